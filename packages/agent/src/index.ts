export { startAgent } from './main/agent.ts';
export type { AgentHandle, AgentLogger, AgentOptions } from './main/options.ts';
