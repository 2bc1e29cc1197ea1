/// A named metric with its samples.
///
/// Names, units and types are those of OpenMetrics: *The OpenMetrics project — Creating a standard for exposing metrics
/// data*, version 1.0, 2020 (<https://prometheus.io/docs/specs/om/open_metrics_spec>).
package struct MetricFamily: Hashable, Sendable {
    /// The types of metrics.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// A count that only increases; it starts at 0 with the process.
        case counter
        /// A value that increases and decreases.
        case gauge
        /// Numbers of values in buckets, with the sum of the values.
        case histogram
        /// Several states, each 0 or 1.
        case stateSet = "stateset"
    }

    /// The base units.
    package enum Unit: String, Hashable, Sendable, CaseIterable {
        /// Seconds.
        case seconds
        /// Metres.
        case meters
        /// Bytes.
        case bytes
        /// A share in [0, 1], or a quotient.
        case ratio
    }

    /// A sample without the name of its family.
    package struct Sample: Hashable, Sendable {
        /// The labels in the order of the output; names are unique.
        package var labels: [Label]
        /// The number, or the buckets of a histogram.
        package var value: Value

        /// Creates a sample.
        package init(_ value: Value, labels: [Label] = []) {
            self.labels = labels
            self.value = value
        }
    }

    /// The label of a sample.
    package struct Label: Hashable, Sendable {
        /// A letter or underscore, followed by letters, digits and underscores.
        package var name: String
        /// Any text.
        package var value: String

        /// Creates a label.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The value of a sample.
    package enum Value: Hashable, Sendable {
        /// A number of any family but a histogram.
        case number(Double)
        /// The bounds of a histogram's buckets, the count of each bucket and of the last one without a bound, and the
        /// sum of all values.
        case histogram(bounds: [Double], counts: [Int], sum: Double)
    }

    /// The name, with its unit as the last part, and without the `_total` of a counter's samples.
    package var name: String
    /// The type of the metric.
    package var kind: Kind
    /// The unit; nil for a metric without one, such as a count.
    package var unit: Unit?
    /// The meaning in one sentence.
    package var help: String
    /// The samples; empty while the value is unknown. No two samples have the same labels.
    package var samples: [Sample]

    /// Creates a family.
    ///
    /// - Precondition: `name` consists of lowercase letters, digits and underscores, begins with a letter, and ends in
    ///   the unit.
    package init(_ name: String, _ kind: Kind, unit: Unit? = nil, help: String, samples: [Sample] = []) {
        precondition(Self.isName(name), "invalid name of a metric: \(name)")
        precondition(unit.map { name.hasSuffix("_" + $0.rawValue) } ?? true, "\(name) must end in its unit")
        self.name = name
        self.kind = kind
        self.unit = unit
        self.help = help
        self.samples = samples
    }

    private static func isName(_ name: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let first = name.utf8.first, letters.contains(first) else { return false }
        return name.utf8.allSatisfy { letters.contains($0) || digits.contains($0) || $0 == UInt8(ascii: "_") }
    }
}
