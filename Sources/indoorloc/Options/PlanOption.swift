import IndoorLocalization
import VenuePackets

/// The options of one plan.
struct PlanOption: Sendable {
    let path: String
    let scale: PlanScale
    let level: Int
    let name: String?
    let controlPoints: [PlanDrawing.ControlPoint]

    func drawing() throws -> PlanDrawing {
        var drawing = try PlanDrawing(readingImage: path, scale: scale, level: level, name: name)
        drawing.controlPoints = controlPoints
        return drawing
    }
}

extension ParsedArguments {
    /// Returns the plans of `venue new`.
    ///
    /// - Throws: `UsageError` if an option is invalid, or doesn't occur once for each plan.
    func plans() throws -> [PlanOption] {
        let paths = try (values["plan"] ?? []).map(InputFile.keeping)
        func each<Value>(_ option: String, _ read: (String) throws -> Value) throws -> [Value] {
            let texts = values[option] ?? []
            guard texts.isEmpty || texts.count == paths.count else {
                throw usage(
                    "--\(option) is given \(texts.count.counting("time")) for \(paths.count.counting("plan")); give it "
                        + "once for each")
            }
            return try texts.map(read)
        }
        let levels = try each("level") { text in
            guard let level = Int(text), (-1000...1000).contains(level) else {
                throw usage("--level must be a whole number from -1000 to 1000, not '\(text)'")
            }
            return level
        }
        let names = try each("map-name") { $0 }
        let shared = values["scale"]?.count == 1
        let scales =
            shared
            ? Array(repeating: try scale(try required("scale")), count: paths.count) : try each("scale", scale)
        let points = try (values["georeference"] ?? []).map(controlPoint)
        if points.count == 1 {
            throw usage("one --georeference doesn't give the direction of the plan; give two or more")
        }
        return paths.indices.map { index in
            PlanOption(
                path: paths[index], scale: scales[index], level: levels.isEmpty ? index : levels[index],
                name: names.isEmpty ? nil : names[index], controlPoints: points)
        }
    }

    private func usage(_ message: String) -> UsageError { UsageError(message: message, command: syntax.name) }

    private func scale(_ text: String) throws(UsageError) -> PlanScale {
        guard let (points, meters) = numbers(text), points.count == 4, meters.count == 1 else {
            throw usage(
                "--scale must be X1,Y1,X2,Y2=METRES, such as \"30,30,1050,30=34\", not '\(text)'")
        }
        do throws(PlanDrawingError) {
            return try PlanScale(
                from: PixelPoint(x: points[0], y: points[1]), to: PixelPoint(x: points[2], y: points[3]),
                meters: meters[0])
        } catch { throw usage("--scale \(text): \(error)") }
    }

    private func controlPoint(_ text: String) throws(UsageError) -> PlanDrawing.ControlPoint {
        guard let (point, place) = numbers(text), point.count == 2, place.count == 2,
            abs(place[0]) <= 90, abs(place[1]) <= 180
        else {
            throw usage(
                "--georeference must be X,Y=LATITUDE,LONGITUDE, such as \"30,30=50.11103,8.68193\", not '\(text)'")
        }
        return PlanDrawing.ControlPoint(
            pixel: PixelPoint(x: point[0], y: point[1]),
            coordinate: Coordinate(latitude: place[0], longitude: place[1]))
    }

    /// Returns the numbers on both sides of an equals sign; nil if one isn't a finite number.
    private func numbers(_ text: String) -> ([Double], [Double])? {
        let sides = text.split(separator: "=", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let numbers = sides.map { side in
            side.split(separator: ",", omittingEmptySubsequences: false).map { part in
                Double(part.drop { $0 == " " }).flatMap { $0.isFinite ? $0 : nil }
            }
        }
        guard !numbers.joined().contains(nil) else { return nil }
        return (numbers[0].compactMap(\.self), numbers[1].compactMap(\.self))
    }
}
