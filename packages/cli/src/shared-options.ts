import { Option } from 'commander';
import { apiUrl } from './option-values.ts';

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
