//! What is computed of a table for the views, what is long once.

use std::cell::OnceCell;

use topas_data::pes::{
    Balance, Cluster, Column, Examined, Findings, Groups, KMeans, PeTable, Summary, Values,
    all_groups, best_clusters, examine, summary, unit_clusters, values,
};
use topas_findings::{FactValues, Rules};

use super::verdict::Verdict;

/// A table with the column of the views.
pub struct ViewSections<'t> {
    /// The PEs
    pub table: &'t PeTable,
    /// The column
    pub column: Column,
    /// Its values
    pub values: Values,
    groups: OnceCell<Vec<Groups>>,
    examined: OnceCell<Examined>,
}

impl<'t> ViewSections<'t> {
    /// Of the column, or if None of the rate, or of the CPU time if there is no rate.
    pub fn new(table: &'t PeTable, column: Option<Column>) -> Self {
        let column = column.unwrap_or_else(|| {
            let has_rate = table.rows.iter().any(|pe| Column::Rate.value(table, pe).is_some());
            if has_rate { Column::Rate } else { Column::CpuTime }
        });
        ViewSections {
            table,
            column,
            values: values(table, column),
            groups: OnceCell::new(),
            examined: OnceCell::new(),
        }
    }

    /// Of the column that differs most in what stands out most, if anything does.
    pub fn of_first_finding(self) -> Self {
        let first = self.findings().findings.first().and_then(|finding| finding.evidence.first());
        match first.map(|evidence| evidence.column) {
            Some(column) if column != self.column => ViewSections {
                examined: self.examined,
                ..ViewSections::new(self.table, Some(column))
            },
            _ => self,
        }
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

    /// Groups of each kind that has several, and hosts always.
    pub fn groups(&self) -> &[Groups] {
        self.groups.get_or_init(|| all_groups(self.table, &self.values))
    }

    /// Balance of CPU time, of operations where counted, and of wall clock time.
    pub fn balances(&self) -> &[Balance] {
        &self.examined().balances
    }

    /// The facts that rules are about.
    pub fn facts(&self) -> FactValues {
        super::verdict::facts(self.table, self.balances(), self.findings())
    }

    /// What is to be said by these rules.
    pub fn verdict(&self, rules: &Rules) -> Verdict<'_> {
        Verdict::new(self.table, self.balances(), self.findings(), rules)
    }

    /// What stands out.
    fn findings(&self) -> &Findings {
        &self.examined().findings
    }

    fn examined(&self) -> &Examined {
        self.examined.get_or_init(|| examine(self.table))
    }
}
