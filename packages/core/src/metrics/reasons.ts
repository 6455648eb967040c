/**
 * Reasons of `publish_failed` that begin like this belong to messages that never became `sent`: the
 * books read `scheduled = sent + dropped + publish_failed{not sent: …} + waiting`, and every other
 * failure stands between `sent` and `acked`.
 */
export const NOT_SENT = 'not sent: ';
