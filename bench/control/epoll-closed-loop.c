/*
 * The other control of the closed-loop benchmark: what the kernel charges for clients that keep a window
 * of QoS 1 messages under way. One thread, one epoll set; one read(2) takes the PUBACKs that are there,
 * and one write(2) sends as many new messages. No stamp, no histogram.
 *
 *   epoll-closed-loop HOST PORT CLIENTS INFLIGHT PAYLOAD_BYTES
 *
 * Prints "connected" when every client has its CONNACK, then publishes. Each line on standard input
 * is answered by one line {"acked":N,"cpuUs":N} taken at that moment; end of input ends it.
 */
#include "epoll-publish.h"

enum { MAX_CLIENTS = 15000, MAX_INFLIGHT = 64, PUBACK_BYTES = 4, EVENTS = 1024 };

struct client {
  int fd;
  uint16_t packet_id;
};

static struct client clients[MAX_CLIENTS];
static unsigned char packets[MAX_PACKET * MAX_INFLIGHT];
static unsigned char input[PUBACK_BYTES * MAX_INFLIGHT];
static uint64_t acked;

static void publish(int index, size_t messages, const struct publish_form *form) {
  struct client *c = &clients[index];
  for (size_t m = 0; m < messages; m++) {
    if (++c->packet_id == 0) c->packet_id = 1;
    number_publish(packets + m * form->length, form, index, c->packet_id);
  }
  size_t bytes = messages * form->length;
  if (write(c->fd, packets, bytes) != (ssize_t)bytes) die("PUBLISH");
}

int main(int argc, char **argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: epoll-closed-loop HOST PORT CLIENTS INFLIGHT PAYLOAD_BYTES\n");
    return 2;
  }
  int count = atoi(argv[3]);
  int inflight = atoi(argv[4]);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2]))};
  if (count < 1 || count > MAX_CLIENTS || inflight < 1 || inflight > MAX_INFLIGHT) return 2;
  if (inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) return 2;

  struct publish_form form = build_publish(packets, atoi(argv[5]));
  for (int m = 1; m < inflight; m++) memcpy(packets + (size_t)m * form.length, packets, form.length);
  int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = MAX_CLIENTS};
  epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event);
  for (int i = 0; i < count; i++) {
    char id[32];
    snprintf(id, sizeof id, "bench-l-%d", i);
    clients[i].fd = open_client(id, 60, &address);
    event.data.u32 = (uint32_t)i;
    epoll_ctl(epoll, EPOLL_CTL_ADD, clients[i].fd, &event);
  }
  printf("connected\n");
  fflush(stdout);

  for (int i = 0; i < count; i++) publish(i, (size_t)inflight, &form);
  struct epoll_event events[EVENTS];
  for (;;) {
    int n = epoll_wait(epoll, events, EVENTS, -1);
    for (int i = 0; i < n; i++) {
      int index = (int)events[i].data.u32;
      if (index == MAX_CLIENTS) {
        answer_mark("acked", acked);
        continue;
      }
      ssize_t bytes = read(clients[index].fd, input, sizeof input);
      if (bytes <= 0) die("PUBACK");
      size_t acks = (size_t)bytes / PUBACK_BYTES;
      acked += acks;
      publish(index, acks, &form);
    }
  }
}
