#!/usr/bin/perl
# The job of topas-stat in one pass, as the script of 1999 did it, to compare speed with.
#
#   perl bench/topas-stat.pl [BUCKET] < topas.log
#
# Prints the same tables. Ids are taken as unique: it does not look at times, faults of
# lines or rates of several FP lines beyond their sums, all of which topas-stat does.
use strict;
use warnings;

my $bucket = shift // 50;
my (%npes, %wall, %ops, %opswall, %lang, %lib, %end, %low);

while (<STDIN>) {
    my @f = split ' ';
    next unless @f >= 16;
    my $id = "$f[15] $f[5]";
    # Microseconds, so that sums and bounds of buckets are exact.
    my $wall = int($f[12] * 1e6 + 0.5);
    $npes{$id} = $f[5];
    $wall{$id} = $wall if !defined $wall{$id} || $wall > $wall{$id};
    if ($f[13] =~ /^f[=~](\d+)/) {
        $ops{$id} += $1;
        $opswall{$id} += $wall;
    }
    if (!defined $low{$id} || $f[4] < $low{$id}) {
        $low{$id} = $f[4];
        $lang{$id} = $f[8];
        $lib{$id} = $f[9];
    }
}

my (%table, %total);
for my $id (keys %npes) {
    my $time = $npes{$id} * $wall{$id};
    my $at = $opswall{$id} ? int($ops{$id} / ($opswall{$id} * $bucket)) : '-';
    for ([Mflops => $at], [Lang => $lang{$id}], ['MP-Lib' => $lib{$id}]) {
        my ($table, $row) = @$_;
        $table{$table}{$row}[0]++;
        $table{$table}{$row}[1] += $time;
        next if $row eq '-' && $table eq 'Mflops';
        $total{$table}[0]++;
        $total{$table}[1] += $time;
    }
}

for my $table ('Mflops', 'Lang', 'MP-Lib') {
    my $rows = $table{$table};
    my ($runs, $all) = @{$total{$table} // [0, 0]};
    printf "%7s    Num%%   Num   Time%%         Time\n", $table;
    my @order = $table eq 'Mflops'
        ? sort { ($a eq '-') <=> ($b eq '-') || ($a eq '-' ? 0 : $a <=> $b) } keys %$rows
        : sort { $rows->{$a}[0] <=> $rows->{$b}[0] || $a cmp $b } keys %$rows;
    for my $row (@order) {
        my ($num, $time) = @{$rows->{$row}};
        my $none = $table eq 'Mflops' && $row eq '-';
        my $label = $table eq 'Mflops' && !$none
            ? sprintf('%3d-%3d', $row * $bucket, ($row + 1) * $bucket) : $row;
        my $s = int($time / 1e6 + 0.5);
        printf "%7s %7s %5d %7s %12s\n", $label,
            $none ? '-' : sprintf('%.2f%%', 100 * $num / $runs), $num,
            $none ? '-' : sprintf('%.2f%%', $all ? 100 * $time / $all : 0),
            sprintf('%d:%02d:%02d', $s / 3600, $s / 60 % 60, $s % 60);
    }
}
