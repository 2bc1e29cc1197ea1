import IndoorLocalization
import IndoorLocalizationTesting
import LocalizationFigures
import TextFormats
import VenuePackets

/// The rows of a file of errors: CSV with one row for each scored instant.
///
/// A file of another program needs the columns `method` and `error`, or `method` and both positions; the other columns are
/// optional.
enum ErrorTable {
    /// The columns, in their order.
    static let columns = [
        "data_set", "track", "method", "seed", "t", "true_x", "true_y", "true_level", "x", "y", "level", "error",
        "radius", "floor_right",
    ]
    static let header = columns.joined(separator: ",") + "\n"

    /// The defect of a file.
    struct Failure: Error, Hashable {
        /// The line, from 1.
        var line: Int
        var message: String
    }

    /// Returns the rows of some tracks by a method.
    static func rows(
        of outcomes: [TrackEvaluation.Outcome], dataSet: String, method: String, seed: UInt64, venue: Venue
    ) -> String {
        func number(_ value: Double?) -> String {
            value.flatMap { $0.isFinite ? JSONText.number($0, decimals: 3) : nil } ?? ""
        }
        func level(_ map: MapID?) -> String { map.flatMap { venue.map($0)?.level }.map(String.init) ?? "" }
        return outcomes.map { outcome in
            let track = PlotSource.name(ofRecording: outcome.path)
            return outcome.causal.answers.map { answer in
                let position = answer.position
                let fields = [
                    CSVText.field(PrintableText.line(dataSet).unicodeScalars),
                    CSVText.field(PrintableText.line(track).unicodeScalars), method, String(seed),
                    number(answer.instant.seconds), number(answer.point.x), number(answer.point.y),
                    level(answer.mapID), number(position?.x), number(position?.y), level(position?.mapID),
                    number(position?.point.distance(to: answer.point)), number(position?.radius),
                    position == nil ? "" : answer.error == nil ? "0" : "1",
                ]
                return fields.joined(separator: ",") + "\n"
            }.joined()
        }.joined()
    }

    /// Returns the errors in a file, a series for each method in the order of their first rows.
    ///
    /// - Throws: `CommandError` with the line of the first invalid row.
    static func series(_ path: String) throws(CommandError) -> [ErrorSeries] {
        let bytes: [UInt8]
        do throws(BoundedFileError) {
            bytes = try BoundedFile.read(path, limit: InputLimits.standard.radioMap)
        } catch { throw CommandError(description: "\(path) \(error)") }
        do throws(Failure) { return try series(of: bytes) } catch {
            throw CommandError(description: PrintableText.line("\(path):\(error.line): \(error.message)"))
        }
    }

    /// Returns the errors in the content of a file.
    static func series(of bytes: [UInt8]) throws(Failure) -> [ErrorSeries] {
        var reader = CSVReader(bytes)
        guard let head = try record(of: &reader) else {
            throw Failure(line: 1, message: "the file is empty; the first line names the columns")
        }
        var places: [String: Int] = [:]
        for (index, name) in head.fields.enumerated() where places[name] == nil { places[name] = index }
        let hasPoints = ["true_x", "true_y", "x", "y"].allSatisfy { places[$0] != nil }
        guard places["method"] != nil, places["error"] != nil || hasPoints else {
            throw Failure(
                line: head.line,
                message: "the first line must name the columns method and error, or method, true_x, true_y, x and y")
        }
        var methods: [String] = []
        var tracks: [String: [(name: String, samples: [ErrorSample])]] = [:]
        while let record = try record(of: &reader) {
            let row = try Row(record: record, head: head, places: places)
            let method = row.text("method")
            if tracks[method] == nil { methods.append(method) }
            let name = [row.text("data_set"), row.text("track"), row.text("seed")].joined(separator: "\u{1F}")
            let sample = try row.sample()
            // Remove the entry and store it again below, so that no row copies the list.
            var list = tracks.removeValue(forKey: method) ?? []
            if let index = list.firstIndex(where: { $0.name == name }) {
                list[index].samples.append(sample)
            } else {
                list.append((name, [sample]))
            }
            tracks[method] = list
        }
        return methods.map { method in
            ErrorSeries(
                name: method,
                tracks: (tracks[method] ?? []).map { track in
                    let parts = track.name.split(separator: "\u{1F}", omittingEmptySubsequences: false)
                    return ErrorSeries.Track(name: String(parts[1]), samples: track.samples)
                })
        }
    }

    private static func record(of reader: inout CSVReader) throws(Failure) -> CSVReader.Record? {
        do { return try reader.next() } catch { throw Failure(line: error.line, message: error.message) }
    }

    /// A row of a file.
    private struct Row {
        let record: CSVReader.Record
        let places: [String: Int]

        init(record: CSVReader.Record, head: CSVReader.Record, places: [String: Int]) throws(Failure) {
            let (count, known) = (record.fields.count, head.fields.count)
            guard record.fields.dropFirst(known).allSatisfy(\.isEmpty) else {
                throw Failure(
                    line: record.line,
                    message:
                        "the line has \(count) fields, but the first line has \(known); write decimals with a point")
            }
            (self.record, self.places) = (record, places)
        }

        func text(_ column: String) -> String {
            guard let place = places[column], record.fields.indices.contains(place) else { return "" }
            return record.fields[place]
        }

        /// The number in a column; nil for an empty field or a missing column.
        func number(_ column: String) throws(Failure) -> Double? {
            let text = text(column)
            guard !text.isEmpty else { return nil }
            guard let number = Double(text), number.isFinite else {
                throw Failure(line: record.line, message: "\(column) must be a number, not '\(text)'")
            }
            return number
        }

        /// Whether a column says yes; true for an empty field or a missing column.
        func isRight(_ column: String) throws(Failure) -> Bool {
            switch text(column).lowercased() {
            case "", "true", "yes": return true
            case "false", "no": return false
            // Programs that calculate with the column write 1.0 and 0.0.
            case let text where Double(text) == 1: return true
            case let text where Double(text) == 0: return false
            default:
                throw Failure(line: record.line, message: "\(column) must be 0 or 1, not '\(text(column))'")
            }
        }

        /// The error of the row; nil on another floor.
        func sample() throws(Failure) -> ErrorSample {
            var error = try number("error")
            if places["error"] == nil, let trueX = try number("true_x"), let trueY = try number("true_y"),
                let x = try number("x"), let y = try number("y")
            {
                error = MapPoint(x: x, y: y).distance(to: MapPoint(x: trueX, y: trueY))
            }
            if let found = error, found < 0 {
                throw Failure(line: record.line, message: "error must be at least 0, not \(found)")
            }
            let isRightFloor = try isRight("floor_right")
            return ErrorSample(
                instant: Instant(seconds: min(max(try number("t") ?? 0, -1e9), 1e9)),
                error: isRightFloor ? error : nil, radius: try number("radius"))
        }
    }
}
