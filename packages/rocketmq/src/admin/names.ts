import { RocketmqError } from '../codec/rocketmq-error.ts';

const NAME_LENGTH_MAX = 127;
const NAME = /^[%|\w-]+$/;

/** @throws RocketmqError ARGUMENT for a name that no broker takes */
export function checkTopicName(topic: string): void {
  check('topic', topic);
}

/** @throws RocketmqError ARGUMENT */
export function checkGroupName(group: string): void {
  check('group', group);
}

function check(what: string, name: string): void {
  if (NAME.test(name) && name.length <= NAME_LENGTH_MAX) return;
  throw new RocketmqError('ARGUMENT', `${JSON.stringify(name)} is no name of a ${what}`, {
    hint: `letters, digits, % | _ and -, ${NAME_LENGTH_MAX} at most`,
  });
}
