/// A point of a chart, in the units of its axes.
public struct ChartPoint: Hashable, Sendable {
    /// The value along the horizontal axis.
    public var x: Double
    /// The value along the vertical axis.
    public var y: Double

    /// Creates a point.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
}

/// An axis of a chart.
public struct ChartAxis: Hashable, Sendable {
    /// The quantity, such as "Error".
    package var title: String
    /// The unit, such as "m"; nil for a quantity without one.
    package var unit: String?
    /// The range to show; nil for that of the data, extended to the next ticks.
    package var range: ClosedRange<Double>?
    /// Whether the range of the data is extended to contain 0.
    package var includesZero: Bool

    /// The names of the values 0, 1, 2 and so on, which are then the only ticks; empty for a numeric axis.
    public var categories: [String] = []

    /// Creates an axis.
    public init(
        _ title: String, unit: String? = nil, range: ClosedRange<Double>? = nil, includesZero: Bool = false
    ) {
        self.title = title
        self.unit = unit
        self.range = range
        self.includesZero = includesZero
    }

    /// The title with the unit.
    var label: String { unit.map { "\(title) (\($0))" } ?? title }
}

/// A series of a chart. Values that are not finite are left out and interrupt a line.
public struct ChartSeries: Sendable {
    /// The form and the data of a series.
    public enum Form: Sendable {
        /// Points connected by straight lines.
        case line([ChartPoint])
        /// A line that keeps each value until the next point, such as a cumulative distribution.
        case steps([ChartPoint])
        /// Separate points.
        case points([ChartPoint])
        /// The area between two lines with common x values.
        case band([Interval])
        /// Bars from 0 to a value, such as a histogram.
        case bars([Bar])
        /// Horizontal ranges of x values with a mark between their ends, such as the spread of each category.
        case spans([Span])
    }

    /// A range of x values at one y value.
    public struct Span: Hashable, Sendable {
        /// The value along the vertical axis.
        package var y: Double
        /// The range along the horizontal axis.
        package var range: ClosedRange<Double>
        /// The value with a mark.
        package var mark: Double

        /// Creates a range with a mark.
        public init(y: Double, range: ClosedRange<Double>, mark: Double) {
            self.y = y
            self.range = range
            self.mark = mark
        }
    }

    /// The lower and the upper value of a band at one x value.
    public struct Interval: Hashable, Sendable {
        /// The value along the horizontal axis.
        package var x: Double
        /// The lower value of the band.
        package var lower: Double
        /// The upper value of the band.
        package var upper: Double

        /// Creates an interval.
        public init(x: Double, lower: Double, upper: Double) {
            self.x = x
            self.lower = lower
            self.upper = upper
        }
    }

    /// A bar over a range of x values.
    public struct Bar: Hashable, Sendable {
        /// The range along the horizontal axis.
        package var range: ClosedRange<Double>
        /// The value at the end of the bar; the bar begins at 0.
        package var value: Double

        /// Creates a bar.
        public init(_ range: ClosedRange<Double>, value: Double) {
            self.range = range
            self.value = value
        }
    }

    /// The name in the legend; an empty name is not listed.
    package var name: String
    /// The form and the data.
    package var form: Form
    /// The colour.
    package var color: FigureColor
    /// Whether a line is dashed even if its colour's lines are solid, such as a reference line.
    package var isDashed: Bool

    /// Creates a series.
    public init(_ name: String, _ form: Form, color: FigureColor, isDashed: Bool = false) {
        self.name = name
        self.form = form
        self.color = color
        self.isDashed = isDashed
    }

    /// The finite points that the axes must show.
    var extent: [ChartPoint] {
        let points: [ChartPoint] =
            switch form {
            case .line(let points), .steps(let points), .points(let points): points
            case .band(let intervals):
                intervals.flatMap { [ChartPoint(x: $0.x, y: $0.lower), ChartPoint(x: $0.x, y: $0.upper)] }
            case .bars(let bars):
                bars.flatMap {
                    [ChartPoint(x: $0.range.lowerBound, y: 0), ChartPoint(x: $0.range.upperBound, y: $0.value)]
                }
            case .spans(let spans):
                spans.flatMap {
                    [
                        ChartPoint(x: $0.range.lowerBound, y: $0.y), ChartPoint(x: $0.mark, y: $0.y),
                        ChartPoint(x: $0.range.upperBound, y: $0.y),
                    ]
                }
            }
        return points.filter { $0.x.isFinite && $0.y.isFinite }
    }
}

/// A chart with two axes.
public struct Chart: Sendable {
    /// The title above the chart; empty for none.
    package var title: String
    /// The horizontal axis.
    package var x: ChartAxis
    /// The vertical axis.
    package var y: ChartAxis
    /// The series, drawn in order.
    package var series: [ChartSeries]
    /// The text shown in place of missing data.
    package var emptyText: String
    /// The height as a share of the width.
    package var aspect: Double

    /// Creates a chart.
    public init(
        title: String = "", x: ChartAxis, y: ChartAxis, series: [ChartSeries], emptyText: String = "no data",
        aspect: Double = 0.5
    ) {
        self.title = title
        self.x = x
        self.y = y
        self.series = series
        self.emptyText = emptyText
        self.aspect = aspect
    }

    /// The entries of the legend.
    var legend: [LegendEntry] {
        series.filter { !$0.name.isEmpty }.map { series in
            let symbol: LegendEntry.Symbol =
                switch series.form {
                case .line, .steps: series.isDashed ? .dashedLine : .line
                case .points, .spans: .point
                case .band, .bars: .area
                }
            return LegendEntry(name: series.name, symbol: symbol, color: series.color)
        }
    }
}
