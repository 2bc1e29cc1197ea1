import FoundationEssentials
import IndoorLocalization
import ScanRecording

/// A recording that goes on for longer than any test waits for a program that plays it in real time.
///
/// With the end of its recording, the program leaves all areas and ends. On a busy machine, that could be before the test
/// has seen what it waits for.
package enum EndlessRecording {
    /// Five times the longest wait.
    private static let length = Bounded.longest * 5

    /// A reading as a line of a recording, without its time.
    private struct Line {
        var instant: Instant
        /// The line from the comma behind the time on.
        var rest: ArraySlice<UInt8>
    }

    /// Writes the readings of a recording, and then those of its last stay again and again.
    ///
    /// If the device doesn't stay at one place at the end, all readings follow again and again: the device then jumps from
    /// the end of the walk to its start.
    ///
    /// - Parameter path: the path of the new file, plain text.
    package static func write(_ recording: String, to path: String) throws {
        var reader = try RecordingReader(path: recording)
        var (text, lines, places): ([UInt8], [Line], [Truth]) = ([], [], [])
        var end = Instant.zero
        while let entry = try reader.next() {
            end = entry.instant ?? end
            switch entry {
            case .header: text += try RecordEncoder.line(for: entry)
            case .measurement(let reading):
                let line = try RecordEncoder.line(for: entry)
                text += line
                lines.append(Line(instant: reading.instant, rest: line.drop { $0 != UInt8(ascii: ",") }))
            case .truth(let place): places.append(place)
            }
        }
        // The last place is the end of a stay that the place before it begins.
        let begin = places.dropLast().last.flatMap { $0.isHold ? $0.instant : nil } ?? .zero
        let period = begin.duration(to: end)
        let repeated = lines.filter { $0.instant >= begin }
        var shift = period
        while period > .zero, begin.advanced(by: shift) < Instant.zero.advanced(by: length) {
            for line in repeated {
                // Encoding each line anew would take many times as long.
                text += "{\"t\":\(line.instant.advanced(by: shift).seconds)".utf8
                text += line.rest
            }
            shift += period
        }
        try Data(text).write(to: URL(filePath: path))
    }
}
