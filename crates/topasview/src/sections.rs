//! What is computed of a table for the views.

use topas_data::pes::{
    Balance, Cluster, Column, Findings, Grouping, Groups, KMeans, Summary, Table, Values, balance,
    best_clusters, findings, groups, summary, unit_clusters, values,
};

use crate::args::Clusters;

/// A table with the column of the views.
pub struct Sections<'t> {
    /// The PEs
    pub table: &'t Table,
    /// The column
    pub column: Column,
    /// Its values
    pub values: Values,
}

impl<'t> Sections<'t> {
    /// Of the column, or if None of the rate, or of the CPU time if there is no rate.
    pub fn new(table: &'t Table, column: Option<Column>) -> Self {
        if let Some(column) = column {
            return Sections { table, column, values: values(table, column) };
        }
        let rates = values(table, Column::Rate);
        if rates.values.is_empty() {
            let column = Column::CpuTime;
            return Sections { table, column, values: values(table, column) };
        }
        Sections { table, column: Column::Rate, values: rates }
    }

    /// Statistical summary; None without values.
    pub fn summary(&self) -> Option<Summary> {
        summary(&self.values)
    }

    /// Clusters of a width.
    pub fn clusters(&self, width: f64) -> Vec<Cluster> {
        unit_clusters(self.table, &self.values, width)
    }

    /// Optimal clusters.
    pub fn best(&self) -> KMeans {
        best_clusters(self.table, &self.values)
    }

    /// The width of clusters that are asked for; None if the best are.
    pub fn width(of: Clusters) -> Option<f64> {
        match of {
            Clusters::Width(width) => Some(width),
            Clusters::Best => None,
        }
    }

    /// Groups of each kind that has several, and hosts always.
    pub fn groups(&self) -> Vec<Groups> {
        let all = Grouping::ALL.map(|by| groups(self.table, &self.values, by));
        let many = |of: &Groups| of.groups.len() > 1 || of.by == Grouping::Host;
        let hosts = all.iter().find(|of| of.by == Grouping::Host).map_or(0, |of| of.groups.len());
        // NUMA nodes of a host are those of all hosts if there is one host.
        all.into_iter()
            .filter(|of| many(of) && !(of.by == Grouping::HostNuma && hosts < 2))
            .collect()
    }

    /// Balance of CPU time, and of operations where counted.
    pub fn balances(&self) -> Vec<Balance> {
        let of = |column| balance(self.table, column, &values(self.table, column));
        [Column::CpuTime, Column::Counter].into_iter().filter_map(of).collect()
    }

    /// What stands out.
    pub fn findings(&self) -> Findings {
        findings(self.table)
    }
}
