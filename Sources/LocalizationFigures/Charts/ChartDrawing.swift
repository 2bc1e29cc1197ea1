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
