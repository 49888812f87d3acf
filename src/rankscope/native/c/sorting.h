/* Sorting the documents of a list: by score with a stable radix sort, ties by id with a merge sort. */
#ifndef RANKSCOPE_SORTING_H
#define RANKSCOPE_SORTING_H

#include <stdint.h>
#include <string.h>

#include "ids.h"

typedef struct {
    uint64_t key;
    uint32_t index;
} sorting_item;

static void sorting_by_insertion(sorting_item *items, uint64_t n) {
    for (uint64_t i = 1; i < n; i++) {
        sorting_item item = items[i];
        uint64_t at = i;
        for (; at > 0 && items[at - 1].key > item.key; at--) items[at] = items[at - 1];
        items[at] = item;
    }
}

static void sorting_by_merging(sorting_item *items, sorting_item *spare, uint64_t n) {
    sorting_item *from = items, *to = spare;
    for (uint64_t low = 0; low < n; low += 8) sorting_by_insertion(items + low, n - low < 8 ? n - low : 8);
    for (uint64_t width = 8; width < n; width *= 2) {
        for (uint64_t low = 0; low < n; low += 2 * width) {
            uint64_t middle = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
            uint64_t a = low, b = middle, out = low;
            while (a < middle && b < high) {
                const int right = from[b].key < from[a].key;
                to[out++] = from[right ? b : a]; /* without a branch: which one cannot be predicted */
                a += (uint64_t)!right;
                b += (uint64_t)right;
            }
            memcpy(to + out, from + a, (middle - a) * sizeof *to);
            memcpy(to + out + (middle - a), from + b, (high - b) * sizeof *to);
        }
        sorting_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) memcpy(items, from, n * sizeof *items);
}

/* Stable, by ascending key; `spare` has room for n items. */
static void sorting_by_key(sorting_item *items, sorting_item *spare, uint64_t n) {
    if (n <= 400) { /* counting 8 x 256 bytes costs more than merging so few */
        sorting_by_merging(items, spare, n);
        return;
    }
    uint32_t counts[8][256];
    memset(counts, 0, sizeof counts);
    for (uint64_t i = 0; i < n; i++)
        for (int byte = 0; byte < 8; byte++) counts[byte][items[i].key >> (8 * byte) & 255]++;
    sorting_item *from = items, *to = spare;
    for (int byte = 0; byte < 8; byte++) {
        uint32_t *count = counts[byte], start = 0;
        if (count[from[0].key >> (8 * byte) & 255] == n) continue; /* all alike here */
        for (int value = 0; value < 256; value++) {
            uint32_t here = count[value];
            count[value] = start;
            start += here;
        }
        for (uint64_t i = 0; i < n; i++) to[count[from[i].key >> (8 * byte) & 255]++] = from[i];
        sorting_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) memcpy(items, from, n * sizeof *items);
}

/* By descending or ascending id (ids are distinct), whatever the keys are, which are lost; `spare` has room for n items. */
static void sorting_by_id(sorting_item *items, sorting_item *spare, uint64_t n, const ids *set, int ascending) {
    sorting_item *from = items, *to = spare;
    const uint64_t *starts = set->starts;
    const uint64_t flip = ascending ? ~(uint64_t)0 : 0; /* complements descend where prefixes ascend */
    for (uint64_t i = 0; i < n; i++)
        items[i].key = flip ^ ids_prefix(set->bytes + starts[items[i].index],
                                         starts[items[i].index + 1] - starts[items[i].index]);
    for (uint64_t width = 1; width < n; width *= 2) {
        for (uint64_t low = 0; low < n; low += 2 * width) {
            uint64_t middle = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
            uint64_t a = low, b = middle, out = low;
            while (a < middle && b < high) {
                int left = from[a].key > from[b].key;
                if (from[a].key == from[b].key) {
                    uint64_t i = from[a].index, j = from[b].index;
                    left = (ids_compare(set->bytes + starts[i], starts[i + 1] - starts[i], set->bytes + starts[j],
                                        starts[j + 1] - starts[j]) > 0) != ascending;
                }
                to[out++] = from[left ? a : b]; /* without a branch: which one cannot be predicted */
                a += (uint64_t)left;
                b += (uint64_t)!left;
            }
            memcpy(to + out, from + a, (middle - a) * sizeof *to);
            memcpy(to + out + (middle - a), from + b, (high - b) * sizeof *to);
        }
        sorting_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) memcpy(items, from, n * sizeof *items);
}

#endif
