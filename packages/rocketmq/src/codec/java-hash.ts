/** `String.hashCode()` of Java: what brokers compare tags by, and queues are chosen by. */
export function javaHash(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i += 1) hash = (Math.imul(31, hash) + text.charCodeAt(i)) | 0;
  return hash;
}
