export * from './squall-error.ts';
export { isDescriptorError, RAISE_DESCRIPTORS } from './descriptor-error.ts';
