import type { PublishStream } from '../plan/plan.ts';

/** The topic templates of a stream, one or several; weights left aside. */
export function streamTopics({ topic }: Pick<PublishStream, 'topic'>): readonly string[] {
  return typeof topic === 'string' ? [topic] : topic.map(({ template }) => template);
}
