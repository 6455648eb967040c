export { RocketmqError, type RocketmqErrorCode } from './codec/rocketmq-error.ts';
