import IndoorVocabulary
import VenueModel

/// The drawing of a plan in a rectangle.
struct PlanDrawing {
    private let plan: PlanView
    private let frame: Rectangle
    /// Pixels per metre.
    private let scale: Double
    /// The part of the plan that is drawn, in metres and in pixels.
    private let low: MapPoint
    private let area: Rectangle

    /// The space above the plan for the title, and below it for the metre bar.
    private static let (above, below) = (24.0, 26.0)
    /// The maximum height of a plan in pixels.
    private static let tallest = 620.0

    /// Returns the height in pixels of a plan that is drawn with a width.
    static func height(of plan: PlanView, width: Double) -> Double {
        let (low, high) = plan.extent
        return scale(of: plan, width: width) * (high.y - low.y) + above(of: plan) + below
    }

    private static func above(of plan: PlanView) -> Double { plan.title.isEmpty ? 4 : above }

    private static func scale(of plan: PlanView, width: Double) -> Double {
        let (low, high) = plan.extent
        let free = width - (plan.heatMap == nil ? 0 : HeatMap.legendWidth)
        return min(free / (high.x - low.x), tallest / (high.y - low.y))
    }

    init(_ plan: PlanView, frame: Rectangle) {
        self.plan = plan
        self.frame = frame
        let (low, high) = plan.extent
        self.low = low
        scale = Self.scale(of: plan, width: frame.width)
        area = Rectangle(
            x: frame.x, y: frame.y + Self.above(of: plan), width: scale * (high.x - low.x),
            height: scale * (high.y - low.y))
    }

    private func pixel(_ point: MapPoint) -> (x: Double, y: Double) {
        (area.x + (point.x - low.x) * scale, area.y + (point.y - low.y) * scale)
    }

    func draw(_ svg: inout SVGWriter) {
        if !plan.title.isEmpty {
            svg.label(
                SVGText.shortened(plan.title, width: frame.width, size: 13), x: frame.x, y: frame.y + 15, size: 13)
        }
        svg.group(
            "svg",
            [
                "x": .number(area.x), "y": .number(area.y), "width": .number(area.width),
                "height": .number(area.height),
                "viewBox": "\(SVGPath.pair(area.x, area.y)) \(SVGPath.pair(area.width, area.height))",
            ]
        ) { svg in
            drawFloor(&svg)
            if plan.heatMap == nil { plan.picture?.draw(in: pictureFrame, isOver: false, &svg) }
            plan.heatMap?.draw(&svg, width: plan.map.width, height: plan.map.height, pixel: pixel)
            if plan.heatMap != nil { plan.picture?.draw(in: pictureFrame, isOver: true, &svg) }
            drawWalls(&svg)
            drawFences(&svg)
            if plan.showsRoomNames { drawRoomNames(&svg) }
            drawBeacons(&svg)
            for layer in plan.layers { layer.draw(&svg, scale: scale, frame: area, pixel: pixel) }
        }
        svg.add(
            "rect",
            [
                "class": "f-axis", "x": .number(area.x), "y": .number(area.y), "width": .number(area.width),
                "height": .number(area.height), "fill": "none", "stroke-opacity": 0.5,
            ])
        drawMetreBar(&svg)
        plan.heatMap?.drawLegend(
            in: Rectangle(x: area.maxX, y: area.y, width: HeatMap.legendWidth, height: area.height), &svg)
    }

    private func polygon(_ corners: [MapPoint]) -> SVGPath {
        var path = SVGPath()
        for (index, corner) in corners.filter(\.isFinite).enumerated() {
            let (x, y) = pixel(corner)
            if index == 0 { path.move(x, y) } else { path.line(x, y) }
        }
        if !path.isEmpty { path.close() }
        return path
    }

    private func draw(_ shape: Area, _ attributes: SVGWriter.Attributes, _ svg: inout SVGWriter) {
        svg.group("g", attributes) { svg in
            switch shape {
            case .circle(let center, let radius):
                let (x, y) = pixel(center)
                svg.add("circle", ["cx": .number(x), "cy": .number(y), "r": .number(radius * scale)])
            case .polygon(let corners):
                svg.add("path", ["d": .text(polygon(corners).data)])
            }
        }
    }

    /// The rectangle of the whole plan in pixels.
    private var pictureFrame: Rectangle {
        let (x, y) = pixel(MapPoint(x: 0, y: 0))
        return Rectangle(x: x, y: y, width: plan.map.width * scale, height: plan.map.height * scale)
    }

    private func drawFloor(_ svg: inout SVGWriter) {
        for walkable in plan.map.walkable { draw(.polygon(walkable), ["class": "f-room"], &svg) }
        for room in plan.rooms {
            if let shape = room.area { draw(shape, ["class": "f-room"], &svg) }
        }
    }

    private func drawWalls(_ svg: inout SVGWriter) {
        var path = SVGPath()
        for wall in plan.map.walls {
            for (index, corner) in wall.enumerated() {
                let (x, y) = pixel(corner)
                if index == 0 { path.move(x, y) } else { path.line(x, y) }
            }
        }
        guard !path.isEmpty else { return }
        let width = min(3, max(1, 0.15 * scale))
        for (style, width) in [(plan.heatMap == nil ? nil : "f-halo", width + 1.5), ("f-wall", width)] {
            guard let style else { continue }
            svg.add(
                "path",
                [
                    "class": .text(style), "d": .text(path.data), "fill": "none", "stroke-width": .number(width),
                    "stroke-linecap": "round",
                ])
        }
    }

    private func drawFences(_ svg: inout SVGWriter) {
        for fence in plan.fences {
            draw(
                fence.area,
                [
                    "class": .text(FigureColor.purple.style), "fill": "none", "stroke": "currentColor",
                    "stroke-width": 1.5, "stroke-dasharray": "5 4",
                ], &svg)
        }
    }

    /// A pixel of the drawing.
    private struct Place {
        var x: Double
        var y: Double
    }

    /// Draws the names of the rooms that have space for them: at a normal or a small size, where they hide neither a
    /// beacon nor a layer.
    private func drawRoomNames(_ svg: inout SVGWriter) {
        let taken: [Place] = takenPlaces
        for room in plan.rooms {
            guard case .polygon(let corners) = room.area, let box = box(around: corners) else { continue }
            for size in [11.0, 9.0] {
                let half: Double = SVGText.width(room.name, size: size) / 2
                guard 2 * half < box.width - 4, box.height > size + 4 else { continue }
                let place: Place = Self.place(in: box, halfWidth: half, size: size, taken: taken)
                svg.label(room.name, x: place.x, y: place.y + size * 0.35, anchor: .middle, style: "f-name", size: size)
                break
            }
        }
    }

    /// The rectangle around the corners of a room; nil without a corner.
    private func box(around corners: [MapPoint]) -> Rectangle? {
        let places: [Place] = corners.map(place)
        guard let left = places.map(\.x).min(), let right = places.map(\.x).max() else { return nil }
        guard let top = places.map(\.y).min(), let bottom = places.map(\.y).max() else { return nil }
        return Rectangle(x: left, y: top, width: right - left, height: bottom - top)
    }

    /// Returns the middle of a name in a rectangle: the first of some places with nothing behind it, or the center.
    private static func place(in box: Rectangle, halfWidth: Double, size: Double, taken: [Place]) -> Place {
        let (sides, heights): ([Double], [Double]) = ([0.5, 0.3, 0.7], [0.5, 0.25, 0.75, 0.15, 0.85])
        let halfHeight: Double = size / 2
        for down in heights {
            for across in sides {
                var place = Place(x: box.x + box.width * across, y: box.y + box.height * down)
                place.x = min(max(place.x, box.x + halfWidth + 2), box.maxX - halfWidth - 2)
                place.y = min(max(place.y, box.y + halfHeight + 4), box.maxY - halfHeight - 4)
                let isTaken: Bool = taken.contains { other in
                    abs(other.x - place.x) < halfWidth + 4 && abs(other.y - place.y) < halfHeight + 5
                }
                if !isTaken { return place }
            }
        }
        return Place(x: box.midX, y: box.midY)
    }

    private func place(_ point: MapPoint) -> Place {
        let (x, y) = pixel(point)
        return Place(x: x, y: y)
    }

    /// The places of beacons and layers in pixels, including places between the points of paths.
    private var takenPlaces: [Place] {
        var places: [Place] = plan.beacons.filter(\.isFinite).map(place)
        for layer in plan.layers {
            switch layer.form {
            case .points(let points), .squares(let points):
                places += points.filter(\.isFinite).map(place)
            case .label(let point, let text):
                guard point.isFinite else { continue }
                let start: Place = place(point)
                for offset in stride(from: 0.0, through: SVGText.width(text, size: 12), by: 8.0) {
                    places.append(Place(x: start.x + offset, y: start.y))
                }
            case .path(let points):
                for (start, end) in zip(points, points.dropFirst()) where start.isFinite && end.isFinite {
                    let pixels: Double = start.distance(to: end) * scale
                    let count: Int = Int(min(1000.0, max(1.0, pixels / 8.0)))
                    for number in 0...count {
                        let share: Double = Double(number) / Double(count)
                        places.append(place(start + (end - start) * share))
                    }
                }
            case .circles, .segments:
                continue
            }
        }
        return places
    }

    private func drawBeacons(_ svg: inout SVGWriter) {
        PlanLayer("", .squares(plan.beacons), color: .blue, size: plan.beacons.count > 60 ? 4 : 6).draw(
            &svg, scale: scale, frame: area, pixel: pixel)
    }

    private func drawMetreBar(_ svg: inout SVGWriter) {
        let metres = AxisScale(0...area.width / scale * 0.2, count: 1).ticks
        let shown = metres.last { $0 * scale <= area.width * 0.5 } ?? metres.last ?? 1
        let (x, y) = (area.x, area.maxY + 12)
        svg.add(
            "path",
            [
                "class": "f-wall", "fill": "none", "stroke-width": 1.5,
                "d": .text("M\(SVGPath.pair(x, y - 4))v8m0-4H\(SVGText.number(x + shown * scale))m0-4v8"),
            ])
        svg.label(
            "\(SVGText.number(shown, decimals: 2)) m", x: x + shown * scale + 6, y: y + 4, style: "f-soft", size: 11)
    }
}
