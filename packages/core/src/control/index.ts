export {
  type AgentFacts,
  type AgentHealth,
  agentFacts,
  agentHealth,
  CONTROL_PROTOCOL,
  type FromAgent,
  type FromController,
  fromAgent,
  fromController,
  MAX_ASSIGN_BYTES,
  MAX_CONTROL_MESSAGE_BYTES,
} from './messages.ts';
