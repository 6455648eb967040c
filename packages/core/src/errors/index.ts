export * from './squall-error.ts';
