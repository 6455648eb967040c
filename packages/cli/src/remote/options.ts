import { SquallError } from '@squall/core/errors';
import { joinToken, type TokenSource } from '../token.ts';
import { ControllerClient } from './client.ts';

export interface RemoteOptions extends TokenSource {
  /** `--controller` or SQUALL_CONTROLLER. */
  readonly controller?: string;
}

/** @throws SquallError SQ_USAGE where no controller is named. */
export function clientOf(options: RemoteOptions): ControllerClient {
  if (options.controller === undefined) {
    throw new SquallError('SQ_USAGE', 'which controller?', {
      hint: 'give --controller http://host:port, or set SQUALL_CONTROLLER',
    });
  }
  return new ControllerClient({ url: options.controller, token: joinToken(options) });
}
