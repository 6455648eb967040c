/** How a frame's header is written; the number is the frame's type byte. */
export const Serialization = { json: 0, binary: 1 } as const;
export type Serialization = (typeof Serialization)[keyof typeof Serialization];

/**
 * What we call ourselves: the ordinal of 4.9.8. From 401 on name servers answer strict JSON; below
 * 442 no server tells us to go away.
 */
export const CLIENT_VERSION = 409;
/** Every version knows this name; `NODE_JS` is known from 5.3.2 on only. */
export const CLIENT_LANGUAGE = 'OTHER';
export const CLIENT_LANGUAGE_BYTE = 7;

/** One request or answer, decoded as a whole. The hot paths read frames in place instead. */
export interface RemotingCommand {
  readonly code: number;
  readonly opaque: number;
  /** Bits of `CommandFlag`. */
  readonly flag: number;
  /** Ordinal of the sender's version; 0 where it did not say. */
  readonly version: number;
  readonly language: string;
  readonly remark: string | null;
  readonly ext: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export const EMPTY_BODY: Buffer = Buffer.alloc(0);

/** The parts of a request that its sender chooses. */
export interface RequestParts {
  readonly code: number;
  readonly ext?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  readonly flag?: number;
}

/** A request of ours; the opaque is set when it goes out. */
export function request(parts: RequestParts): RemotingCommand {
  return {
    code: parts.code,
    opaque: 0,
    flag: parts.flag ?? 0,
    version: CLIENT_VERSION,
    language: CLIENT_LANGUAGE,
    remark: null,
    ext: parts.ext ?? {},
    body: parts.body ?? EMPTY_BODY,
  };
}
