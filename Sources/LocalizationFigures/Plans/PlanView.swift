import IndoorVocabulary
import TextFormats
import VenueModel

/// The plan of one floor with layers over it.
package struct PlanView: Sendable {
    /// The title above the plan; empty for none.
    package var title: String
    /// The plan.
    package var map: VenueMap
    /// The rooms to draw.
    package var rooms: [Room]
    /// The geofences to draw.
    package var fences: [Fence]
    /// The points of the beacons.
    package var beacons: [MapPoint]
    /// The values under the walls; nil for none.
    package var heatMap: HeatMap?
    /// The layers over the walls, drawn in order.
    package var layers: [PlanLayer]
    /// Whether rooms are labelled with their names, where there is space.
    package var showsRoomNames: Bool
    /// The image of the plan below the walls; nil for none.
    package var picture: PlanPicture?
    /// The name of the beacons in the legend.
    package var beaconName: String
    /// Whether the drawing shows only the part of the plan around the layers, with a margin.
    package var isCropped: Bool

    /// Creates the plan of a map of a venue, with the beacons of that map and, without a heat map, its rooms and
    /// fences.
    ///
    /// - Parameters:
    ///   - title: the title; nil for the map's name.
    ///   - pictures: the images of the venue's maps.
    package init(
        venue: Venue, map: VenueMap, title: String? = nil, pictures: [MapID: PlanPicture] = [:],
        heatMap: HeatMap? = nil, layers: [PlanLayer] = []
    ) {
        self.title = title ?? map.name
        self.map = map
        rooms = venue.rooms(on: map.id)
        fences = heatMap == nil ? venue.fences(on: map.id) : []
        beacons = venue.beacons(on: map.id).map(\.point)
        self.heatMap = heatMap
        self.layers = layers
        showsRoomNames = true
        picture = pictures[map.id]
        beaconName = "beacons"
        isCropped = false
    }

    /// The entries of the legend.
    var legend: [LegendEntry] {
        var entries = layers.compactMap(\.legend)
        if beacons.contains(where: \.isFinite) {
            entries.append(LegendEntry(name: beaconName, symbol: .square, color: .blue))
        }
        if !fences.isEmpty { entries.append(LegendEntry(name: "fences", symbol: .dashedLine, color: .purple)) }
        return entries
    }

    /// The part of the plan to draw, in metres: the plan, and the beacons and layers outside it up to a tenth of it.
    var extent: (low: MapPoint, high: MapPoint) {
        let (width, height) = (max(map.width, 0.001), max(map.height, 0.001))
        var points = beacons
        for layer in layers {
            switch layer.form {
            case .path(let more), .points(let more), .squares(let more): points += more
            case .circles(let circles): points += circles.map(\.center)
            case .segments(let segments): points += segments.flatMap { [$0.start, $0.end] }
            case .label(let point, _): points.append(point)
            }
        }
        points = points.filter(\.isFinite)
        var (low, high) = (MapPoint(x: 0, y: 0), MapPoint(x: width, y: height))
        if isCropped, let first = points.first {
            (low, high) = (first, first)
            for point in points { (low, high) = (low.lower(point), high.upper(point)) }
            let margin = max(3, 0.05 * max(high.x - low.x, high.y - low.y))
            low = (low - MapPoint(x: margin, y: margin)).upper(MapPoint(x: -margin, y: -margin))
            high = (high + MapPoint(x: margin, y: margin)).lower(MapPoint(x: width + margin, y: height + margin))
            return (low, high)
        }
        let margin = 0.1 * max(width, height)
        for point in points {
            low = low.lower(point).upper(MapPoint(x: -margin, y: -margin))
            high = high.upper(point).lower(MapPoint(x: width + margin, y: height + margin))
        }
        return (low, high)
    }
}

extension MapPoint {
    fileprivate func lower(_ other: MapPoint) -> MapPoint { MapPoint(x: min(x, other.x), y: min(y, other.y)) }
    fileprivate func upper(_ other: MapPoint) -> MapPoint { MapPoint(x: max(x, other.x), y: max(y, other.y)) }
}

/// A layer over a plan. Points that are not finite are left out and interrupt a path.
package struct PlanLayer: Sendable {
    /// A circle on the map, with its radius in metres.
    package struct Circle: Hashable, Sendable {
        /// The center.
        package var center: MapPoint
        /// The radius in metres, from 0.
        package var radius: Double

        /// Creates a circle.
        package init(center: MapPoint, radius: Double) {
            self.center = center
            self.radius = radius
        }
    }

    /// The form and the data of a layer.
    package enum Form: Sendable {
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
    package struct Segment: Hashable, Sendable {
        /// The first point.
        package var start: MapPoint
        /// The last point.
        package var end: MapPoint

        /// Creates a segment.
        package init(_ start: MapPoint, _ end: MapPoint) {
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
    package var isOutlined = false

    /// Creates a layer.
    package init(_ name: String, _ form: Form, color: FigureColor, size: Double = 2) {
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

    /// Draws the layer; `pixel` transforms a point of the map, `scale` is in pixels per metre, and labels stay within
    /// `frame`, in pixels.
    func draw(
        _ svg: inout SVGWriter, scale: Double, frame: Rectangle, pixel: (MapPoint) -> (x: Double, y: Double)
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
            let (gap, width) = (size / 2 + 4, SVGText.width(text, size: 12))
            let isRight = x + gap + width <= frame.maxX || x - gap - width < frame.x
            svg.label(
                text, x: isRight ? x + gap : x - gap, y: min(max(y + 4, frame.y + 13), frame.maxY - 4),
                anchor: isRight ? .start : .end, style: "f-text f-halo f-tag")
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

/// Values on a grid of square cells of a map.
package struct HeatMap: Sendable {
    /// The quantity, such as "Expected RSSI".
    package var title: String
    /// The unit, such as "dBm"; nil for a quantity without one.
    package var unit: String?
    /// The corner of the first cell with the smallest coordinates.
    package var origin: MapPoint
    /// The edge of a cell in metres, above 0.
    package var cellSize: Double
    /// The number of cells along x, at least 1.
    package var columns: Int
    /// The values, row by row from the top; NaN where there is none.
    package var values: [Double]
    /// The range of the scale; nil for that of the values. Values outside have the colour of the nearest end.
    package var range: ClosedRange<Double>?
    /// Whether low values have the light colours.
    package var isReversed: Bool

    /// The number of colours: about as many as a reader can distinguish in the legend.
    static let levels = 20

    /// Creates a heat map. Values beyond the last whole row are ignored.
    package init(
        title: String, unit: String? = nil, origin: MapPoint, cellSize: Double, columns: Int, values: [Double],
        range: ClosedRange<Double>? = nil, isReversed: Bool = false
    ) {
        self.title = title
        self.unit = unit
        self.origin = origin
        self.cellSize = cellSize
        self.columns = max(1, columns)
        self.values = values
        self.range = range
        self.isReversed = isReversed
    }

    /// The number of whole rows.
    var rows: Int { values.count / columns }

    /// The title with the unit.
    var label: String { unit.map { "\(title) (\($0))" } ?? title }

    /// The scale of the legend, which ends with the range.
    var scale: AxisScale {
        let finite = values.filter(\.isFinite)
        let data = range ?? (finite.min() ?? 0)...(finite.max() ?? 1)
        return AxisScale(data, count: 6, isTight: true)
    }

    /// Returns the level of a value, from 0; nil for NaN.
    func level(of value: Double, _ scale: AxisScale) -> Int? {
        guard !value.isNaN else { return nil }
        let share = min(max(scale.share(value), 0), 1)
        return min(Int(share * Double(Self.levels)), Self.levels - 1)
    }

    /// Returns the colour of a level as hexadecimal digits.
    func hex(_ level: Int) -> String {
        let share = (Double(level) + 0.5) / Double(Self.levels)
        return ColorScale.hex(isReversed ? 1 - share : share)
    }

    /// Draws the cells; `pixel` transforms a point of the map. A cell that overhangs the plan ends with it.
    func draw(
        _ svg: inout SVGWriter, width: Double, height: Double, pixel: (MapPoint) -> (x: Double, y: Double)
    ) {
        func clamped(_ point: MapPoint) -> MapPoint {
            MapPoint(x: min(max(point.x, 0), width), y: min(max(point.y, 0), height))
        }
        let scale = scale
        var paths = [SVGPath](repeating: SVGPath(), count: Self.levels)
        for row in 0..<rows {
            var column = 0
            while column < columns {
                let start = column
                let level = level(of: values[row * columns + column], scale)
                // Equal neighbours in a row are one rectangle.
                while column < columns, self.level(of: values[row * columns + column], scale) == level { column += 1 }
                guard let level else { continue }
                let (left, top) = pixel(clamped(corner(start, row)))
                let (right, bottom) = pixel(clamped(corner(column, row + 1)))
                guard right > left, bottom > top else { continue }
                // Rectangles overlap slightly, so that rounded edges leave no gap.
                paths[level].rectangle(x: left, y: top, width: right - left + 0.05, height: bottom - top + 0.05)
            }
        }
        for (level, path) in paths.enumerated() where !path.isEmpty {
            svg.add(
                "path",
                ["d": .text(path.data), "fill": .text("#" + hex(level)), "shape-rendering": "crispEdges"])
        }
    }

    private func corner(_ column: Int, _ row: Int) -> MapPoint {
        MapPoint(x: origin.x + Double(column) * cellSize, y: origin.y + Double(row) * cellSize)
    }

    /// The width of the legend in pixels.
    static let legendWidth = 74.0

    /// Draws the legend: a bar of the colours with ticks.
    func drawLegend(in frame: Rectangle, _ svg: inout SVGWriter) {
        let scale = scale
        let height = min(frame.height, 260)
        let step = height / Double(Self.levels)
        for level in 0..<Self.levels {
            let y = frame.y + height - Double(level + 1) * step
            svg.add(
                "rect",
                [
                    "x": .number(frame.x + 20), "y": .number(y), "width": 14, "height": .number(step + 0.3),
                    "fill": .text("#" + hex(level)), "shape-rendering": "crispEdges",
                ])
        }
        for (tick, label) in zip(scale.ticks, scale.labels) {
            let y = frame.y + height * (1 - scale.share(tick))
            svg.add("path", ["class": "f-axis", "d": .text("M\(SVGPath.pair(frame.x + 34, y))h4")])
            svg.label(label, x: frame.x + 41, y: y + 4, style: "f-soft", size: 11)
        }
        let turn = "rotate(-90 \(SVGPath.pair(frame.x + 13, frame.y + height / 2)))"
        let name = SVGText.shortened(label, width: height, size: 12)
        svg.group("g", ["transform": .text(turn)]) { svg in
            svg.label(name, x: frame.x + 13, y: frame.y + height / 2, anchor: .middle)
        }
    }
}

/// A colour scale for heat maps that increases in lightness, so that it is readable with any kind of colour vision and
/// in grey.
///
/// Source: S. van der Walt and N. Smith, *Viridis*, matplotlib, 2015.
package enum ColorScale: Sendable {
    /// The colours at equal distances, as red, green and blue from 0 to 255.
    private static let stops: [(Double, Double, Double)] = [
        (68, 1, 84), (72, 40, 120), (62, 73, 137), (49, 104, 142), (38, 130, 142), (31, 158, 137), (53, 183, 121),
        (110, 206, 88), (181, 222, 43), (253, 231, 37),
    ]

    /// Returns the colour of a share of the scale as hexadecimal digits of red, green and blue; the share is clamped to
    /// [0, 1].
    package static func hex(_ share: Double) -> String {
        let place = min(max(share.isNaN ? 0 : share, 0), 1) * Double(stops.count - 1)
        let index = min(Int(place), stops.count - 2)
        let (first, second, weight) = (stops[index], stops[index + 1], place - Double(index))
        return [(first.0, second.0), (first.1, second.1), (first.2, second.2)].map { from, to in
            HexDigits.text(Int((from + (to - from) * weight).rounded()), 2, uppercase: false)
        }.joined()
    }
}
