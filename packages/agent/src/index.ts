export { startAgent } from './main/agent.ts';
export type { AgentHandle, AgentLogger, AgentOptions, AgentStatus } from './main/options.ts';
