/// A point of a chart, in the units of its axes.
package struct ChartPoint: Hashable, Sendable {
    /// The value along the horizontal axis.
    package var x: Double
    /// The value along the vertical axis.
    package var y: Double

    /// Creates a point.
    package init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
}

/// An axis of a chart.
package struct ChartAxis: Hashable, Sendable {
    /// The quantity, such as "Error".
    package var title: String
    /// The unit, such as "m"; nil for a quantity without one.
    package var unit: String?
    /// The range to show; nil for that of the data, extended to the next ticks.
    package var range: ClosedRange<Double>?
    /// Whether the range of the data is extended to contain 0.
    package var includesZero: Bool

    /// The names of the values 0, 1, 2 and so on, which are then the only ticks; empty for a numeric axis.
    package var categories: [String] = []

    /// Creates an axis.
    package init(
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
package struct ChartSeries: Sendable {
    /// The form and the data of a series.
    package enum Form: Sendable {
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
    package struct Span: Hashable, Sendable {
        /// The value along the vertical axis.
        package var y: Double
        /// The range along the horizontal axis.
        package var range: ClosedRange<Double>
        /// The value with a mark.
        package var mark: Double

        /// Creates a range with a mark.
        package init(y: Double, range: ClosedRange<Double>, mark: Double) {
            self.y = y
            self.range = range
            self.mark = mark
        }
    }

    /// The lower and the upper value of a band at one x value.
    package struct Interval: Hashable, Sendable {
        /// The value along the horizontal axis.
        package var x: Double
        /// The lower value of the band.
        package var lower: Double
        /// The upper value of the band.
        package var upper: Double

        /// Creates an interval.
        package init(x: Double, lower: Double, upper: Double) {
            self.x = x
            self.lower = lower
            self.upper = upper
        }
    }

    /// A bar over a range of x values.
    package struct Bar: Hashable, Sendable {
        /// The range along the horizontal axis.
        package var range: ClosedRange<Double>
        /// The value at the end of the bar; the bar begins at 0.
        package var value: Double

        /// Creates a bar.
        package init(_ range: ClosedRange<Double>, value: Double) {
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
    package init(_ name: String, _ form: Form, color: FigureColor, isDashed: Bool = false) {
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
package struct Chart: Sendable {
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
    package init(
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

/// The scale of an axis: a range whose ends are ticks, and the ticks, at steps of 1, 2 or 5 times a power of ten.
struct AxisScale: Hashable {
    /// The first and the last value.
    let range: ClosedRange<Double>
    /// The values with a tick, in increasing order.
    let ticks: [Double]
    /// The number of decimals that distinguishes the ticks.
    let decimals: Int
    /// The names of the ticks; nil for their numbers.
    private var names: [String]?

    /// Creates the scale of data.
    ///
    /// - Parameters:
    ///   - data: the range of the data; its ends are clamped to ±10¹².
    ///   - count: the desired number of steps, at least 1.
    ///   - isTight: whether the scale ends with the data instead of at a tick.
    init(_ data: ClosedRange<Double>, count: Int, isTight: Bool = false) {
        var (low, high) = (Self.clamped(data.lowerBound), Self.clamped(data.upperBound))
        if high - low < 1e-9 * max(1, abs(low), abs(high)) {
            let margin = max(0.5, abs(low) * 0.1)
            (low, high) = (low - margin, high + margin)
        }
        let step = Self.step(atLeast: (high - low) / Double(max(1, count)))
        decimals = step.decimals
        // The value is computed from a multiple of the step, because repeated addition would accumulate rounding
        // errors.
        func value(_ number: Double) -> Double {
            step.power < 0
                ? number * step.digit / Self.power(-step.power) : number * step.digit * Self.power(step.power)
        }
        let unit = value(1)
        let first = isTight ? (low / unit - 1e-9).rounded(.up) : (low / unit + 1e-9).rounded(.down)
        let last = isTight ? (high / unit + 1e-9).rounded(.down) : (high / unit - 1e-9).rounded(.up)
        ticks = last < first ? [] : (0...Int(last - first)).map { value(first + Double($0)) }
        range = isTight ? low...high : value(first)...max(value(last), value(first + 1))
    }

    /// Creates the scale of categories, whose ticks are the whole numbers from 0.
    init(categories: [String]) {
        let count = Double(max(1, categories.count))
        range = -0.5...count - 0.5
        ticks = categories.indices.map(Double.init)
        decimals = 0
        names = categories
    }

    /// A step of `digit` times ten to the `power`.
    private struct Step {
        var digit: Double
        var power: Int
        var decimals: Int { max(0, -power) }
    }

    private static func step(atLeast least: Double) -> Step {
        var power = 0
        while Self.power(power) <= least / 10 { power += 1 }
        while least < (power > 0 ? Self.power(power) : 1 / Self.power(-power)), power > -9 { power -= 1 }
        let unit = power < 0 ? 1 / Self.power(-power) : Self.power(power)
        for digit in [1.0, 2, 5] where digit * unit >= least * (1 - 1e-9) { return Step(digit: digit, power: power) }
        return Step(digit: 1, power: power + 1)
    }

    /// Returns the nearest number that can be drawn with the precision of a Double; 0 for NaN.
    private static func clamped(_ value: Double) -> Double { min(max(value.isNaN ? 0 : value, -1e12), 1e12) }

    /// Ten to a power from 0.
    private static func power(_ exponent: Int) -> Double {
        (0..<max(0, exponent)).reduce(1.0) { power, _ in power * 10 }
    }

    /// Returns the share of the axis before a value; below 0 or above 1 for a value outside the range.
    func share(_ value: Double) -> Double {
        (value - range.lowerBound) / (range.upperBound - range.lowerBound)
    }

    /// The ticks' labels.
    var labels: [String] { names ?? ticks.map { SVGText.label($0, decimals: decimals) } }
}

/// The drawing of a chart in a rectangle.
struct ChartDrawing {
    private let chart: Chart
    /// The rectangle of the whole chart, with its title and its labels.
    private let frame: Rectangle
    /// The rectangle between the axes.
    private let area: Rectangle
    private let x: AxisScale
    private let y: AxisScale

    /// The sizes of text in pixels.
    private static let (tickSize, titleSize) = (11.0, 13.0)
    /// The space in pixels for the labels below the area, and for the title above it.
    private static let (below, above) = (38.0, 24.0)
    /// The maximum width in pixels of a label at the vertical axis.
    private static let longest = 180.0

    init(_ chart: Chart, frame: Rectangle) {
        self.chart = chart
        self.frame = frame
        let points = chart.series.flatMap(\.extent)
        let top = chart.title.isEmpty ? 8 : Self.above
        let height = frame.height - top - Self.below
        y = Self.scale(chart.y, points.map(\.y), count: max(2, Int(height / 38)))
        let widest = min(Self.longest, y.labels.map { SVGText.width($0, size: Self.tickSize) }.max() ?? 0)
        let left = widest + 30
        let right = 14.0
        area = Rectangle(x: frame.x + left, y: frame.y + top, width: frame.width - left - right, height: height)
        x = Self.scale(chart.x, points.map(\.x), count: max(2, Int(area.width / 55)))
    }

    private static func scale(_ axis: ChartAxis, _ values: [Double], count: Int) -> AxisScale {
        if !axis.categories.isEmpty { return AxisScale(categories: axis.categories) }
        if let range = axis.range { return AxisScale(range, count: count, isTight: true) }
        var (low, high) = (values.min() ?? 0, values.max() ?? 1)
        if axis.includesZero { (low, high) = (min(0, low), max(0, high)) }
        return AxisScale(low...high, count: count)
    }

    private func pixelX(_ value: Double) -> Double { area.x + x.share(value) * area.width }
    private func pixelY(_ value: Double) -> Double { area.y + (1 - y.share(value)) * area.height }

    func draw(_ svg: inout SVGWriter) {
        if !chart.title.isEmpty {
            let title = SVGText.shortened(chart.title, width: frame.width - 8, size: Self.titleSize)
            svg.label(title, x: frame.x, y: frame.y + 15, size: Self.titleSize)
        }
        drawAxes(&svg)
        guard chart.series.contains(where: { !$0.extent.isEmpty }) else {
            svg.label(
                chart.emptyText, x: area.midX, y: area.midY, anchor: .middle, style: "f-soft", size: Self.titleSize)
            return
        }
        // A nested document clips its content without an identifier, which another figure of the page could also have.
        svg.group(
            "svg",
            [
                "x": .number(area.x), "y": .number(area.y), "width": .number(area.width),
                "height": .number(area.height),
                "viewBox": "\(SVGPath.pair(area.x, area.y)) \(SVGPath.pair(area.width, area.height))",
            ]
        ) { svg in
            for series in chart.series { draw(series, &svg) }
        }
    }

    private func drawAxes(_ svg: inout SVGWriter) {
        var grid = SVGPath()
        for tick in x.ticks {
            grid.move(pixelX(tick), area.y)
            grid.line(pixelX(tick), area.maxY)
        }
        for tick in y.ticks {
            grid.move(area.x, pixelY(tick))
            grid.line(area.maxX, pixelY(tick))
        }
        svg.add("path", ["class": "f-grid", "d": .text(grid.data), "fill": "none"])
        var axes = SVGPath()
        axes.move(area.x, area.y)
        axes.line(area.x, area.maxY)
        axes.line(area.maxX, area.maxY)
        svg.add("path", ["class": "f-axis", "d": .text(axes.data), "fill": "none"])
        for (tick, label) in zip(x.ticks, x.labels) {
            svg.label(
                label, x: pixelX(tick), y: area.maxY + 15, anchor: .middle, style: "f-soft", size: Self.tickSize)
        }
        for (tick, label) in zip(y.ticks, y.labels) {
            let label = SVGText.shortened(label, width: Self.longest, size: Self.tickSize)
            svg.label(label, x: area.x - 6, y: pixelY(tick) + 4, anchor: .end, style: "f-soft", size: Self.tickSize)
        }
        svg.label(chart.x.label, x: area.midX, y: area.maxY + 32, anchor: .middle)
        let turn = "rotate(-90 \(SVGPath.pair(frame.x + 12, area.midY)))"
        svg.group("g", ["transform": .text(turn)]) { svg in
            svg.label(chart.y.label, x: frame.x + 12, y: area.midY, anchor: .middle)
        }
    }

    private func draw(_ series: ChartSeries, _ svg: inout SVGWriter) {
        switch series.form {
        case .line(let points): stroke(lines(points, asSteps: false), series, &svg)
        case .steps(let points): stroke(lines(points, asSteps: true), series, &svg)
        case .points(let points): draw(points, series.color, &svg)
        case .band(let intervals): draw(intervals, series.color, &svg)
        case .bars(let bars): draw(bars, series.color, &svg)
        case .spans(let spans): draw(spans, series.color, &svg)
        }
    }

    private func lines(_ points: [ChartPoint], asSteps: Bool) -> SVGPath {
        var path = SVGPath()
        var last: ChartPoint?
        for point in points {
            guard point.x.isFinite, point.y.isFinite else {
                last = nil
                continue
            }
            if let last {
                if asSteps { path.line(pixelX(point.x), pixelY(last.y)) }
                path.line(pixelX(point.x), pixelY(point.y))
            } else {
                path.move(pixelX(point.x), pixelY(point.y))
            }
            last = point
        }
        return path
    }

    private func stroke(_ path: SVGPath, _ series: ChartSeries, _ svg: inout SVGWriter) {
        guard !path.isEmpty else { return }
        svg.add(
            "path",
            [
                "class": .text(series.color.style), "d": .text(path.data), "fill": "none", "stroke": "currentColor",
                "stroke-width": 2, "stroke-linejoin": "round",
                "stroke-dasharray": .text(series.isDashed ? "5 4" : "none"),
            ])
    }

    /// Draws points as a path of dots, each place once.
    private func draw(_ points: [ChartPoint], _ color: FigureColor, _ svg: inout SVGWriter) {
        var path = SVGPath()
        var places: Set<String> = []
        var count = 0
        for point in points where point.x.isFinite && point.y.isFinite {
            count += 1
            let (x, y) = (pixelX(point.x), pixelY(point.y))
            if places.insert(SVGPath.pair(x, y)).inserted { path.dot(x, y) }
        }
        guard !path.isEmpty else { return }
        svg.add(
            "path",
            [
                "class": .text(color.style), "d": .text(path.data), "fill": "none", "stroke": "currentColor",
                "stroke-width": count > 400 ? 3 : 5, "stroke-linecap": "round",
                "stroke-opacity": count > 400 ? 0.6 : 1,
            ])
    }

    private func draw(_ intervals: [ChartSeries.Interval], _ color: FigureColor, _ svg: inout SVGWriter) {
        // Each run of finite values is a polygon of its own.
        let runs = intervals.split { !($0.x.isFinite && $0.lower.isFinite && $0.upper.isFinite) }
        var path = SVGPath()
        for run in runs {
            let corners =
                run.map { (pixelX($0.x), pixelY($0.upper)) } + run.reversed().map { (pixelX($0.x), pixelY($0.lower)) }
            for (index, corner) in corners.enumerated() {
                if index == 0 { path.move(corner.0, corner.1) } else { path.line(corner.0, corner.1) }
            }
            path.close()
        }
        guard !path.isEmpty else { return }
        svg.add(
            "path",
            [
                "class": .text(color.style), "d": .text(path.data), "fill": "currentColor", "fill-opacity": 0.2,
                "stroke": "none",
            ])
    }

    private func draw(_ bars: [ChartSeries.Bar], _ color: FigureColor, _ svg: inout SVGWriter) {
        var path = SVGPath()
        for bar in bars where bar.value.isFinite {
            let (left, right) = (pixelX(bar.range.lowerBound), pixelX(bar.range.upperBound))
            let (top, bottom) = (pixelY(max(0, bar.value)), pixelY(min(0, bar.value)))
            guard bottom > top else { continue }
            path.rectangle(x: left + 0.5, y: top, width: max(0.5, right - left - 1), height: bottom - top)
        }
        guard !path.isEmpty else { return }
        svg.add(
            "path",
            ["class": .text(color.style), "d": .text(path.data), "fill": "currentColor", "fill-opacity": 0.75])
    }

    private func draw(_ spans: [ChartSeries.Span], _ color: FigureColor, _ svg: inout SVGWriter) {
        var lines = SVGPath()
        for span in spans where span.y.isFinite && span.range.lowerBound.isFinite && span.range.upperBound.isFinite {
            lines.move(pixelX(span.range.lowerBound), pixelY(span.y))
            lines.line(pixelX(span.range.upperBound), pixelY(span.y))
        }
        svg.add(
            "path",
            [
                "class": .text(color.style), "d": .text(lines.data), "fill": "none", "stroke": "currentColor",
                "stroke-width": 3, "stroke-opacity": 0.45,
            ])
        draw(spans.map { ChartPoint(x: $0.mark, y: $0.y) }, color, &svg)
    }
}
