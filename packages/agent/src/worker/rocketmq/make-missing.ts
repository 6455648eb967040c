import type { RocketmqClient } from '@squall/rocketmq';
import { compileTemplate } from '@squall/core/template';
import type { RocketmqServices } from '../load/group-services.ts';

/** Makes topics and groups that the group uses and the cluster lacks, where the plan asks for it. */
export async function makeMissing(services: RocketmqServices): Promise<void> {
  const { client, context, group, target } = services;
  if (target.create === null) return;
  const rendered = (text: string): string => compileTemplate(text).render(context);
  const topics = new Set<string>();
  for (const { topic } of group.publish) {
    if (typeof topic === 'string') topics.add(rendered(topic));
  }
  for (const { consume } of group.subscribe) {
    if (consume === undefined) continue;
    topics.add(rendered(consume.topic));
    await client.admin.createGroup(rendered(consume.group), { retries: consume.retries });
  }
  for (const topic of topics) await makeTopic(client, topic, target.create.queues);
}

async function makeTopic(client: RocketmqClient, topic: string, queues: number): Promise<void> {
  if (await client.admin.hasTopic(topic)) return;
  await client.admin.createTopic(topic, { queues });
}
