export interface SentEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
}

/** The events of a stream's text, as a browser would see them. */
export function parseEvents(text: string): SentEvent[] {
  return text.split('\n\n').flatMap((block) => {
    const fields = new Map(
      block.split('\n').flatMap((line) => {
        const at = line.indexOf(': ');
        return at < 1 ? [] : [[line.slice(0, at), line.slice(at + 2)] as const];
      }),
    );
    const type = fields.get('event');
    if (type === undefined) return [];
    return [{ id: fields.get('id') ?? '', type, data: fields.get('data') ?? '' }];
  });
}
