import type { Group } from '@squall/core/plan';
import { streamTopics } from '@squall/core/schedule';

/** Templates of topics on which the group leaves retained messages. */
export function retainedTemplates({ connect, publish }: Group): string[] {
  const { will } = connect;
  return [
    ...publish.filter(({ retain }) => retain).flatMap((stream) => streamTopics(stream)),
    ...(will?.retain === true ? [will.topic] : []),
  ];
}
