import IndoorVocabulary

/// A layer over a plan. Points that are not finite are left out and interrupt a path.
public struct PlanLayer: Sendable {
    /// A circle on the map, with its radius in metres.
    public struct Circle: Hashable, Sendable {
        /// The center.
        package var center: MapPoint
        /// The radius in metres, from 0.
        package var radius: Double

        /// Creates a circle.
        public init(center: MapPoint, radius: Double) {
            self.center = center
            self.radius = radius
        }
    }

    /// The form and the data of a layer.
    public enum Form: Sendable {
        /// A path through points.
        case path([MapPoint])
        /// Separate points as small disks.
        case points([MapPoint])
        /// Separate points as squares.
        case squares([MapPoint])
        /// Circles, such as error radii.
        case circles([Circle])
        /// Straight lines from one point to another, such as from a true place to its estimate.
        case segments([Segment])
        /// A place with a name, such as the start.
        case label(MapPoint, String)
    }

    /// A straight line between two points.
    public struct Segment: Hashable, Sendable {
        /// The first point.
        package var start: MapPoint
        /// The last point.
        package var end: MapPoint

        /// Creates a segment.
        public init(_ start: MapPoint, _ end: MapPoint) {
            self.start = start
            self.end = end
        }
    }

    /// The name in the legend; an empty name is not listed.
    package var name: String
    /// The form and the data.
    package var form: Form
    /// The colour.
    package var color: FigureColor
    /// The width of lines or the diameter of points, in pixels.
    package var size: Double
    /// Whether points have an outline in the colour of the page, which separates them from a heat map.
    public var isOutlined = false

    /// Creates a layer.
    public init(_ name: String, _ form: Form, color: FigureColor, size: Double = 2) {
        self.name = name
        self.form = form
        self.color = color
        self.size = size
    }

    /// The entry of the legend; nil for a layer without a name.
    var legend: LegendEntry? {
        guard !name.isEmpty else { return nil }
        let symbol: LegendEntry.Symbol =
            switch form {
            case .path, .segments: .line
            case .points, .label: .point
            case .squares: .square
            case .circles: .ring
            }
        return LegendEntry(name: name, symbol: symbol, color: color)
    }

    /// Draws the layer; `pixel` transforms a point of the map, `scale` is in pixels per metre, and labels end before
    /// `right`, in pixels.
    func draw(
        _ svg: inout SVGWriter, scale: Double, right: Double, pixel: (MapPoint) -> (x: Double, y: Double)
    ) {
        switch form {
        case .path(let points): stroke(Self.path(points, pixel), &svg)
        case .points(let points), .squares(let points): drawDots(points, &svg, pixel)
        case .segments(let segments): stroke(Self.path(segments, pixel), &svg, opacity: 0.6)
        case .circles(let circles):
            for circle in circles where circle.center.isFinite && circle.radius.isFinite {
                let (x, y) = pixel(circle.center)
                svg.add(
                    "circle",
                    [
                        "class": .text(color.style), "cx": .number(x), "cy": .number(y),
                        "r": .number(max(0, circle.radius) * scale), "fill": "currentColor", "fill-opacity": "0.07",
                        "stroke": "currentColor", "stroke-opacity": "0.35",
                    ])
            }
        case .label(let point, let text):
            guard point.isFinite else { return }
            let (x, y) = pixel(point)
            svg.add(
                "circle",
                [
                    "class": .text(color.style + " f-halo"), "cx": .number(x), "cy": .number(y),
                    "r": .number(size / 2), "fill": "currentColor", "stroke-width": 2,
                ])
            let fits = x + size / 2 + 4 + SVGText.width(text, size: 12) <= right
            svg.label(
                text, x: fits ? x + size / 2 + 4 : x - size / 2 - 4, y: y + 4, anchor: fits ? .start : .end,
                style: "f-text f-halo f-tag")
        }
    }

    private static func path(_ points: [MapPoint], _ pixel: (MapPoint) -> (x: Double, y: Double)) -> SVGPath {
        var path = SVGPath()
        var isOpen = false
        for point in points {
            guard point.isFinite else {
                isOpen = false
                continue
            }
            let (x, y) = pixel(point)
            if isOpen { path.line(x, y) } else { path.move(x, y) }
            isOpen = true
        }
        return path
    }

    private static func path(_ segments: [Segment], _ pixel: (MapPoint) -> (x: Double, y: Double)) -> SVGPath {
        var path = SVGPath()
        for segment in segments where segment.start.isFinite && segment.end.isFinite {
            let (start, end) = (pixel(segment.start), pixel(segment.end))
            path.move(start.x, start.y)
            path.line(end.x, end.y)
        }
        return path
    }

    private func stroke(_ path: SVGPath, _ svg: inout SVGWriter, opacity: Double = 1) {
        guard !path.isEmpty else { return }
        svg.add(
            "path",
            [
                "class": .text(color.style), "d": .text(path.data), "fill": "none", "stroke": "currentColor",
                "stroke-width": .number(size), "stroke-linejoin": "round", "stroke-linecap": "round",
                "stroke-opacity": .number(opacity),
            ])
    }

    private func drawDots(_ points: [MapPoint], _ svg: inout SVGWriter, _ pixel: (MapPoint) -> (x: Double, y: Double)) {
        var path = SVGPath()
        for point in points where point.isFinite {
            let (x, y) = pixel(point)
            path.dot(x, y)
        }
        guard !path.isEmpty else { return }
        let isSquare = if case .squares = form { true } else { false }
        if isSquare || isOutlined {
            svg.add(
                "path",
                [
                    "class": "f-halo", "d": .text(path.data), "fill": "none", "stroke-width": .number(size + 2),
                    "stroke-linecap": isSquare ? "square" : "round",
                ])
        }
        svg.add(
            "path",
            [
                "class": .text(color.style), "d": .text(path.data), "fill": "none", "stroke": "currentColor",
                "stroke-width": .number(size), "stroke-linecap": isSquare ? "square" : "round",
            ])
    }
}

extension MapPoint {
    /// Whether both coordinates are finite.
    var isFinite: Bool { x.isFinite && y.isFinite }
}
