/* What the controls in C have in common: time, the connection of a client, the answers to marks. */
#ifndef EPOLL_CONTROL_H
#define EPOLL_CONTROL_H

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what) {
  perror(what);
  exit(1);
}

static inline uint64_t now_us(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static uint64_t cpu_us(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000u +
         (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Protocol 4, clean session; gives the socket, still blocking, once its CONNACK is there. */
static int open_client(const char *id, unsigned char keep_alive_s, const struct sockaddr_in *address) {
  unsigned char connect_packet[64];
  unsigned char connack[4];
  size_t id_length = strlen(id);
  unsigned char *p = connect_packet;
  *p++ = 0x10;
  *p++ = (unsigned char)(12 + id_length);
  memcpy(p, "\0\4MQTT\4\2\0\0\0", 11);
  p[9] = keep_alive_s;
  p += 11;
  *p++ = (unsigned char)id_length;
  memcpy(p, id, id_length);
  p += id_length;

  int fd = socket(AF_INET, SOCK_STREAM, 0);
  int one = 1;
  if (fd < 0) die("socket");
  if (connect(fd, (const struct sockaddr *)address, sizeof *address) < 0) die("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (write(fd, connect_packet, (size_t)(p - connect_packet)) != p - connect_packet) die("CONNECT");
  if (read(fd, connack, 4) != 4 || connack[3] != 0) die("CONNACK");
  return fd;
}

/* A PUBLISH up to the end of its topic; gives where the packet id (QoS 1) or the payload begins. */
static inline size_t begin_publish(unsigned char *packet, int qos, const char *topic, int payload_bytes) {
  size_t topic_length = strlen(topic);
  size_t remaining = 2 + topic_length + (qos ? 2 : 0) + (size_t)payload_bytes;
  size_t at = 0;
  packet[at++] = (unsigned char)(0x30 | (qos << 1));
  do {
    unsigned char byte = remaining % 128;
    remaining /= 128;
    packet[at++] = (unsigned char)(remaining ? byte | 0x80 : byte);
  } while (remaining);
  packet[at++] = 0;
  packet[at++] = (unsigned char)topic_length;
  memcpy(packet + at, topic, topic_length);
  return at + topic_length;
}

/* Answers a line on standard input; its end ends the process. */
static void answer_mark(const char *name, uint64_t value) {
  char line[64];
  ssize_t n = read(0, line, sizeof line);
  if (n == 0) exit(0);
  printf("{\"%s\":%llu,\"cpuUs\":%llu}\n", name, (unsigned long long)value, (unsigned long long)cpu_us());
  fflush(stdout);
}

#endif
