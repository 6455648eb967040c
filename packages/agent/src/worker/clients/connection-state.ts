/** The state of one client's connection, one byte each. */

/** Never asked to connect, or disconnected by the plan. */
export const IDLE = 0;
export const CONNECTING = 1;
export const CONNECTED = 2;
/** Between two attempts. */
export const BACKING_OFF = 3;
/** Every attempt failed: it will not be tried again. */
export const FAILED = 4;
