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
#include "epoll-control.h"

enum { MAX_CLIENTS = 15000, READ_BYTES = 65536, MAX_PACKET = 4096, EVENTS = 1024 };

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

/* The PUBLISH of every client, but for topic digits and packet id, which are patched. */
static size_t build_publish(int payload_bytes, size_t *topic_at, size_t *id_at) {
  const char *topic = "bench/00000/up";
  size_t topic_length = strlen(topic);
  size_t remaining = 2 + topic_length + 2 + (size_t)payload_bytes;
  size_t at = 0;
  packet[at++] = 0x32;
  do {
    unsigned char byte = remaining % 128;
    remaining /= 128;
    packet[at++] = (unsigned char)(remaining ? byte | 0x80 : byte);
  } while (remaining);
  packet[at++] = 0;
  packet[at++] = (unsigned char)topic_length;
  *topic_at = at + 6;
  memcpy(packet + at, topic, topic_length);
  at += topic_length;
  *id_at = at;
  at += 2;
  memset(packet + at, 'x', (size_t)payload_bytes);
  return at + (size_t)payload_bytes;
}

static void publish(int index, size_t length, size_t topic_at, size_t id_at) {
  struct client *c = &clients[index];
  int digits = index;
  for (int d = 4; d >= 0; d--, digits /= 10) packet[topic_at + (size_t)d] = (unsigned char)('0' + digits % 10);
  if (++c->packet_id == 0) c->packet_id = 1;
  packet[id_at] = (unsigned char)(c->packet_id >> 8);
  packet[id_at + 1] = (unsigned char)c->packet_id;
  if (write(c->fd, packet, length) != (ssize_t)length) die("PUBLISH");
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
  size_t topic_at, id_at;
  size_t length = build_publish(atoi(argv[5]), &topic_at, &id_at);
  printf("connected\n");
  fflush(stdout);

  /* Clients take turns in order of index, evenly over the period. */
  uint64_t start = now_us();
  uint64_t tick = 0;
  struct epoll_event events[EVENTS];
  for (;;) {
    uint64_t now = now_us();
    while (start + tick * every_us / (uint64_t)count <= now) {
      publish((int)(tick % (uint64_t)count), length, topic_at, id_at);
      tick++;
    }
    int n = epoll_wait(epoll, events, EVENTS, 1);
    for (int i = 0; i < n; i++) {
      if (events[i].data.u32 == MAX_CLIENTS) answer_mark("acked", acked);
      else read_acks((int)events[i].data.u32);
    }
  }
}
