/* Internal functions of the scanner for reading ahead. */
#ifndef RANKSCOPE_AHEAD_H
#define RANKSCOPE_AHEAD_H

#include "scanner.h"

/* The bytes of a line whose end has not come yet. */
uint64_t scan_pending(const rs_scan *scan);
/* Frees all memory except the results, because many finished scans may wait for their caller. */
void scan_trim(rs_scan *scan);

#endif
