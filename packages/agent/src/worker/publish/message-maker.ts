import type { MessageSource } from './message-source.ts';

/** What a stream has its messages from. */
export type MessageMaker = Pick<MessageSource, 'message' | 'failure' | 'ownTopics' | 'prepare'>;
