/*
 * The control of the fan-out benchmark: what the kernel charges for subscribers that only count.
 *
 * One thread, one epoll set. One connection publishes at a steady pace, all others subscribe to its
 * topic: one read(2) a wake-up, packets told apart by their fixed headers, one write(2) a read with the
 * PUBACKs where the QoS is 1. Nothing else: no stamp, no ledger, no histogram.
 *
 *   epoll-fan-out HOST PORT SUBSCRIBERS EVERY_MS PAYLOAD_BYTES QOS
 *
 * Prints "connected" when every subscriber has its SUBACK, then publishes. Each line on standard input is
 * answered by one line {"received":N,"cpuUs":N} taken at that moment; end of input ends it.
 */
#include "epoll-control.h"

enum { MAX_CLIENTS = 15000, READ_BYTES = 65536, MAX_PACKET = 4096, KEPT_BYTES = 4096, EVENTS = 1024 };

struct client {
  int fd;
  /* What came of a packet that was not whole yet. */
  int kept;
  unsigned char bytes[KEPT_BYTES];
};

static struct client *clients;
static unsigned char packet[MAX_PACKET];
static unsigned char input[KEPT_BYTES + READ_BYTES];
static unsigned char acks[READ_BYTES];
static uint64_t received;
static const char *TOPIC = "bench/fan-out/c";

static int connect_client(int index, const struct sockaddr_in *address) {
  char id[32];
  snprintf(id, sizeof id, "fan-c-%d", index);
  return open_client(id, 0, address);
}

static void subscribe(int fd, int qos) {
  unsigned char suback[5];
  size_t topic_length = strlen(TOPIC);
  size_t at = 0;
  packet[at++] = 0x82;
  packet[at++] = (unsigned char)(2 + 2 + topic_length + 1);
  packet[at++] = 0;
  packet[at++] = 1;
  packet[at++] = 0;
  packet[at++] = (unsigned char)topic_length;
  memcpy(packet + at, TOPIC, topic_length);
  at += topic_length;
  packet[at++] = (unsigned char)qos;
  if (write(fd, packet, at) != (ssize_t)at) die("SUBSCRIBE");
  if (read(fd, suback, 5) != 5 || suback[0] != 0x90) die("SUBACK");
  fcntl(fd, F_SETFL, O_NONBLOCK);
}

static size_t build_publish(int payload_bytes, int qos, size_t *id_at) {
  size_t at = begin_publish(packet, qos, TOPIC, payload_bytes);
  *id_at = at;
  if (qos) at += 2;
  memset(packet + at, 'x', (size_t)payload_bytes);
  return at + (size_t)payload_bytes;
}

/* Handles what lies in `input`, and gives how many bytes of it were whole packets. */
static int take_packets(int length, size_t *ack_length) {
  int at = 0;
  while (at + 2 <= length) {
    int remaining = 0;
    int shift = 0;
    int body = at + 1;
    for (;;) {
      if (body >= length) return at;
      unsigned char byte = input[body++];
      remaining |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
      shift += 7;
    }
    if (body + remaining > length) return at;
    if (input[at] >> 4 == 3) {
      received++;
      if ((input[at] >> 1) & 3) {
        int id_at = body + 2 + (input[body] << 8 | input[body + 1]);
        acks[(*ack_length)++] = 0x40;
        acks[(*ack_length)++] = 2;
        acks[(*ack_length)++] = input[id_at];
        acks[(*ack_length)++] = input[id_at + 1];
      }
    }
    at = body + remaining;
  }
  return at;
}

static void read_messages(struct client *c) {
  size_t ack_length = 0;
  memcpy(input, c->bytes, (size_t)c->kept);
  ssize_t n = read(c->fd, input + c->kept, READ_BYTES);
  if (n <= 0) {
    if (n < 0 && errno == EAGAIN) return;
    fprintf(stderr, "a connection was closed\n");
    exit(1);
  }
  int length = c->kept + (int)n;
  int taken = take_packets(length, &ack_length);
  c->kept = length - taken;
  if (c->kept > KEPT_BYTES) die("a packet is too long");
  memcpy(c->bytes, input + taken, (size_t)c->kept);
  if (ack_length > 0 && write(c->fd, acks, ack_length) != (ssize_t)ack_length) die("PUBACK");
}

int main(int argc, char **argv) {
  if (argc != 7) {
    fprintf(stderr, "usage: epoll-fan-out HOST PORT SUBSCRIBERS EVERY_MS PAYLOAD_BYTES QOS\n");
    return 2;
  }
  int count = atoi(argv[3]);
  uint64_t every_us = (uint64_t)atoi(argv[4]) * 1000u;
  int qos = atoi(argv[6]);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2]))};
  if (count < 1 || count > MAX_CLIENTS || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) return 2;

  clients = calloc((size_t)count + 1, sizeof *clients);
  if (clients == NULL) die("calloc");
  int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = MAX_CLIENTS};
  epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event);
  /* The last one publishes: what it reads are PUBACKs, which count nothing. */
  for (int i = 0; i <= count; i++) {
    clients[i].fd = connect_client(i, &address);
    if (i < count) subscribe(clients[i].fd, qos);
    event.data.u32 = (uint32_t)i;
    epoll_ctl(epoll, EPOLL_CTL_ADD, clients[i].fd, &event);
  }
  fcntl(clients[count].fd, F_SETFL, O_NONBLOCK);
  size_t id_at;
  size_t length = build_publish(atoi(argv[5]), qos, &id_at);
  printf("connected\n");
  fflush(stdout);

  uint64_t start = now_us();
  uint64_t tick = 0;
  uint16_t packet_id = 0;
  struct epoll_event events[EVENTS];
  for (;;) {
    while (start + tick * every_us <= now_us()) {
      if (++packet_id == 0) packet_id = 1;
      if (qos) {
        packet[id_at] = (unsigned char)(packet_id >> 8);
        packet[id_at + 1] = (unsigned char)packet_id;
      }
      if (write(clients[count].fd, packet, length) != (ssize_t)length) die("PUBLISH");
      tick++;
    }
    int n = epoll_wait(epoll, events, EVENTS, 1);
    for (int i = 0; i < n; i++) {
      if (events[i].data.u32 == MAX_CLIENTS) answer_mark("received", received);
      else read_messages(&clients[events[i].data.u32]);
    }
  }
}
