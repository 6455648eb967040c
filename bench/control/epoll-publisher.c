/*
 * The control of the publish benchmark: what the kernel charges for a paced QoS 1 publisher.
 *
 * One thread, one epoll set, one write(2) a PUBLISH and one read(2) a PUBACK, a tick a millisecond:
 * the same system calls as a Squall worker makes, and nothing else (no stamp, no histogram).
 *
 *   epoll-publisher HOST PORT CLIENTS EVERY_MS PAYLOAD_BYTES
 *
 * Prints "connected" when every client has its CONNACK, then publishes. Each line on standard input
 * is answered by one line {"acked":N,"cpuUs":N} taken at that moment; end of input ends it.
 */
#include "epoll-publish.h"

enum { MAX_CLIENTS = 15000, READ_BYTES = 65536, EVENTS = 1024 };

struct client {
  int fd;
  uint16_t packet_id;
  uint64_t due_us;
};

static struct client clients[MAX_CLIENTS];
static unsigned char packet[MAX_PACKET];
static unsigned char input[READ_BYTES];
static uint64_t acked;

static void connect_client(int index, const struct sockaddr_in *address) {
  char id[32];
  snprintf(id, sizeof id, "bench-c-%d", index);
  clients[index].fd = open_client(id, 60, address);
  fcntl(clients[index].fd, F_SETFL, O_NONBLOCK);
  clients[index].packet_id = 0;
}

static void publish(int index, const struct publish_form *form) {
  struct client *c = &clients[index];
  if (++c->packet_id == 0) c->packet_id = 1;
  number_publish(packet, form, index, c->packet_id);
  if (write(c->fd, packet, form->length) != (ssize_t)form->length) die("PUBLISH");
}

static void read_acks(int index) {
  ssize_t n = read(clients[index].fd, input, sizeof input);
  if (n <= 0) {
    if (n < 0 && errno == EAGAIN) return;
    fprintf(stderr, "connection %d closed\n", index);
    exit(1);
  }
  acked += (uint64_t)n / 4; /* a PUBACK is four bytes */
}

int main(int argc, char **argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: epoll-publisher HOST PORT CLIENTS EVERY_MS PAYLOAD_BYTES\n");
    return 2;
  }
  int count = atoi(argv[3]);
  uint64_t every_us = (uint64_t)atoi(argv[4]) * 1000u;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2]))};
  if (count < 1 || count > MAX_CLIENTS || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) return 2;

  int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = MAX_CLIENTS};
  epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event);
  for (int i = 0; i < count; i++) {
    connect_client(i, &address);
    event.data.u32 = (uint32_t)i;
    epoll_ctl(epoll, EPOLL_CTL_ADD, clients[i].fd, &event);
  }
  struct publish_form form = build_publish(packet, atoi(argv[5]));
  printf("connected\n");
  fflush(stdout);

  /* Clients take turns in order of index, evenly over the period. */
  uint64_t start = now_us();
  uint64_t tick = 0;
  struct epoll_event events[EVENTS];
  for (;;) {
    uint64_t now = now_us();
    while (start + tick * every_us / (uint64_t)count <= now) {
      publish((int)(tick % (uint64_t)count), &form);
      tick++;
    }
    int n = epoll_wait(epoll, events, EVENTS, 1);
    for (int i = 0; i < n; i++) {
      if (events[i].data.u32 == MAX_CLIENTS) answer_mark("acked", acked);
      else read_acks((int)events[i].data.u32);
    }
  }
}
