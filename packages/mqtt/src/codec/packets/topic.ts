/** Throws a RangeError, naming the field, for a text that is no topic [MQTT-4.7.3-1, 3.3.2-2]. */
export function checkTopic(name: string, topic: string): void {
  if (topic === '') throw new RangeError(`a ${name} is not empty [MQTT-4.7.3-1]`);
  if (/[#+]/.test(topic)) throw new RangeError(`a ${name} holds no "#" or "+" [MQTT-3.3.2-2]`);
}
