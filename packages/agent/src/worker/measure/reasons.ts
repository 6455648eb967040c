import { NOT_SENT } from '@squall/core/metrics';

/** Reasons that the worker itself gives; those of connections come from `@squall/mqtt`. */
export const DROPPED_GENERATOR = 'generator';
export const DROPPED_NOT_CONNECTED = 'not_connected';
export const DROPPED_WINDOW = 'window';
export const DROPPED_BACKPRESSURE = 'backpressure';

/** The client's own identity fits in no CONNECT; why follows. */
export const NO_CONNECT = 'no CONNECT: ';

export const UNKNOWN_PUBACK = 'PUBACK for a message that is not in flight [MQTT-2.3.1-6]';
export const UNKNOWN_PUBREC = 'PUBREC for a message that is not in flight at QoS 2 [MQTT-2.3.1-6]';
export const UNKNOWN_PUBCOMP = 'PUBCOMP for a message that was not released [MQTT-4.3.3-1]';
export const UNKNOWN_UNSUBACK = 'UNSUBACK for a subscription that was not ended [MQTT-2.3.1-7]';
export const UNKNOWN_SUBACK = 'SUBACK for a subscription that was not asked for [MQTT-2.3.1-7]';

export const CONNECTION_LOST = 'connection lost';
/** MQTT 5: the broker says that it has no session any more, so nothing of it goes on. */
export const SESSION_LOST = 'session lost';
export const NO_ACK_IN_TIME = 'no acknowledgement within the time-out';
export const NO_ACK_BY_DRAIN_END = 'no acknowledgement by the end of the drain';

/** Handed to the socket, but still in user space when the connection went. */
export const LOST_BEFORE_SENT = `${NOT_SENT}connection lost`;
export const UNSENT_IN_TIME = `${NOT_SENT}no room in the socket within the time-out`;
export const UNSENT_BY_DRAIN_END = `${NOT_SENT}no room in the socket by the end of the drain`;
/** The topic or payload of this very message could not be made. */
export const NOT_RENDERED = NOT_SENT;

export const UNFINISHED_WAITING = 'waiting';
export const UNFINISHED_IN_FLIGHT = 'in_flight';

export const SUBSCRIBE_TIMED_OUT = 'no SUBACK within the time-out';
export const SUBSCRIBE_CONNECTION_LOST = 'connection lost before the SUBACK';

export const OLD_STAYS = 'the old connection stays open';
export const NEW_FAILED = 'the new connection failed';

export const UNSUBSCRIBE_TIMED_OUT = 'no UNSUBACK within the time-out';
export const UNSUBSCRIBE_CONNECTION_LOST = 'connection lost before the UNSUBACK';

export const NO_ANSWER_IN_TIME = 'no answer within the time-out';
export const NO_ANSWER_BY_DRAIN_END = 'no answer by the end of the drain';
export const TOO_MANY_REQUESTS = 'too many requests without an answer';

export const NO_RESPONSE_TOPIC = 'the request names no response topic';
export const TOO_MANY_ANSWERS = 'too many answers wait';
