/** Where the controller tells an operator what happens. Lines are plain sentences. */
export interface Logger {
  info(line: string): void;
  warn(line: string): void;
}

export const silentLogger: Logger = { info: () => {}, warn: () => {} };
