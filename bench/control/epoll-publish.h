/* What the publishing controls in C have in common: a QoS 1 PUBLISH of which digits and id are patched. */
#ifndef EPOLL_PUBLISH_H
#define EPOLL_PUBLISH_H

#include "epoll-control.h"

enum { MAX_PACKET = 4096 };

struct publish_form {
  size_t length;
  size_t topic_at;
  size_t id_at;
};

/* The PUBLISH of every client, but for topic digits and packet id, which are patched. */
static struct publish_form build_publish(unsigned char *packet, int payload_bytes) {
  struct publish_form form;
  const char *topic = "bench/00000/up";
  size_t at = begin_publish(packet, 1, topic, payload_bytes);
  form.topic_at = at - strlen(topic) + 6;
  form.id_at = at;
  at += 2;
  memset(packet + at, 'x', (size_t)payload_bytes);
  form.length = at + (size_t)payload_bytes;
  return form;
}

static void number_publish(unsigned char *packet, const struct publish_form *form, int index, uint16_t id) {
  int digits = index;
  for (int d = 4; d >= 0; d--, digits /= 10) packet[form->topic_at + (size_t)d] = (unsigned char)('0' + digits % 10);
  packet[form->id_at] = (unsigned char)(id >> 8);
  packet[form->id_at + 1] = (unsigned char)id;
}

#endif
