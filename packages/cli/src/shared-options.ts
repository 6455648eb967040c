import { Option } from 'commander';
import { apiUrl, wholeNumber } from './option-values.ts';

/** Agents that one command line may ask for, and workers of one agent. */
const MAX_AGENTS = 200;
const MAX_WORKERS = 256;

/** Options that commands of several kinds have. */

export function apiOption(text: string): Option {
  return new Option('--controller <http://host:port>', text)
    .argParser(apiUrl)
    .env('SQUALL_CONTROLLER');
}

export function tokenOption(): Option {
  return new Option(
    '--token <token>',
    'the token; others on this machine can see it, prefer the environment or a file',
  ).env('SQUALL_TOKEN');
}

/** `what` says which token: "the token", "the join token". */
export function tokenFileOption(what: string): Option {
  return new Option('--token-file <file>', `a file that holds ${what}`).env('SQUALL_TOKEN_FILE');
}

export const agentCount = wholeNumber(1, MAX_AGENTS);
export const workerCount = wholeNumber(1, MAX_WORKERS);
