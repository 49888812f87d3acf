/* What scanning ahead needs of a scan, beside what everybody may use. */
#ifndef RANKSCOPE_AHEAD_H
#define RANKSCOPE_AHEAD_H

#include "scanner.h"

/* The bytes of a line whose end has not come yet. */
uint64_t scan_pending(const rs_scan *scan);
/* Gives back all memory but what was found: many scans may wait to be asked for. */
void scan_trim(rs_scan *scan);

#endif
