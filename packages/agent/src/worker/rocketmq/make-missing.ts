import type { RocketmqClient } from '@squall/rocketmq';
import { compileTemplate } from '@squall/core/template';
import type { RocketmqServices } from '../load/group-services.ts';

/**
 * Makes topics and groups that the group uses and the cluster lacks, where the plan asks for it. Tells
 * each one that it made, so that the run's report knows what there is to be removed.
 */
export async function makeMissing(
  services: RocketmqServices,
  made: (what: string) => void,
): Promise<void> {
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
    const name = rendered(consume.group);
    if (await makeGroup(client, name, consume.retries)) made(`group ${name}`);
  }
  for (const topic of topics) {
    if (await makeTopic(client, topic, target.create.queues)) made(`topic ${topic}`);
  }
}

/** False: it was there. */
async function makeGroup(client: RocketmqClient, name: string, retries: number): Promise<boolean> {
  const wasThere = (await client.admin.groups()).has(name);
  // One that is there may have other retries: the plan's are those of its load.
  await client.admin.createGroup(name, { retries });
  return !wasThere;
}

async function makeTopic(client: RocketmqClient, name: string, queues: number): Promise<boolean> {
  if (await client.admin.hasTopic(name)) return false;
  await client.admin.createTopic(name, { queues });
  return true;
}
