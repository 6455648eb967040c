/** Pairs (subscriber, publisher, stream, stage) that one worker follows. What is beyond is counted as `untracked`. */
export const MAX_PAIRS = 2_097_152;

/** Streams of a plan, each topic of a stream with several as one. */
export const MAX_STREAMS = 65_535;

/** Subscribe entries of a group that are followed one by one: they share a word with the stream. */
export const MAX_IDENTIFIED_ENTRIES = 126;

/** Unresolved messages of one client, in one stage, that are put in order by their topics. */
export const MAX_SORTED_UNRESOLVED = 1_000_000;

/** Ranges of numbers that one worker keeps: gaps of all its pairs, or unresolved of all its publishers. */
export const MAX_RANGES = 1_048_576;

/** Gaps that are listed for one pair. Older ones are closed: counted, but no longer told apart. */
export const MAX_GAPS_A_PAIR = 1_024;

/** Words of 32 messages that one worker keeps of what comes through shared subscriptions: 32 MB. */
export const MAX_SHARED_WORDS = 8_388_608;

/** The same on the controller, where each word stands once for all workers. */
export const MAX_JOINED_SHARED_WORDS = 33_554_432;

/** Topics of publishers that one worker keeps a checksum of, to see that messages come on their own. */
export const MAX_KNOWN_TOPICS = 4_194_304;

/** Ranges of unresolved messages of one client, stream and stage. What is beyond is counted as unlisted. */
export const MAX_UNRESOLVED_A_PUBLISHER = 4_096;

/** Words of one publisher in one row of a page: at worst twice as many numbers. */
export const MAX_ROW_WORDS = 4_096;

/** Moments in a stage at which a publisher's numbers are noted, so that late subscribers can be placed. */
export const MAX_MARKS = 4;

/** Numbers in one page, but for the record that crosses the line: some 400 KB of text. */
export const MAX_PAGE_NUMBERS = 60_000;

/** Numbers in a page that arrives: the line above and the longest record that may cross it. */
export const MAX_PAGE_NUMBERS_READ = MAX_PAGE_NUMBERS + 2 * MAX_UNRESOLVED_A_PUBLISHER + 100;

/** Streams × stages, and filters, that one edge names. */
export const MAX_EDGE_ROWS = 10_000;

/** Pages of one worker. */
export const MAX_PAGES = 1_000_000;

/** Kinds of tallies and of examples that one worker keeps. */
export const MAX_TALLIES = 100_000;
export const MAX_WORKER_EXAMPLES = 2_000;

/** Pairs that the controller joins. What is beyond makes the ledger inconclusive. */
export const MAX_JOINED_PAIRS = 8_388_608;

/** Ranges that the controller keeps: gaps of all pairs, or unresolved of all publishers. */
export const MAX_JOINED_RANGES = 8_388_608;

/** Topics that the controller remembers as matches of wildcard filters, over all filters. */
export const MAX_REMEMBERED_TOPICS = 4_194_304;

/**
 * How much later a moment of another clock must look to count as later. Agents' clocks are aligned
 * once, at the start, to a few ms, and drift apart by less than this share of the time since then.
 */
export const CROSS_CLOCK_MARGIN_US = 1_000_000;
export const CROSS_CLOCK_DRIFT = 200e-6;
