import ForeignRecordings
import Foundation
import IndoorLocalization
import ScanRecording
import TextFormats

/// A file of another program that was given in place of a recording.
struct FileOfAnotherProgram: Sendable {
    private let path: String
    private let format: ForeignFormat

    /// Finds the format of a file that isn't a recording by its first lines; nil for a recording with an error, and for a
    /// file that can't be read again or has no known format.
    init?(_ error: RecordingError) {
        switch error.problem {
        case .notARecording, .malformedJSON, .lineTooLong, .missingField, .wrongType: break
        default: return nil
        }
        guard FileIdentity(path: error.file)?.isRegular == true, OpenDescriptor.named(error.file) == nil,
            let format = Self.format(of: error.file)
        else { return nil }
        (path, self.format) = (error.file, format)
    }

    private static func format(of path: String) -> ForeignFormat? {
        do {
            let file = try ConvertibleFile(path: path, settings: ForeignRecordingSettings(), strictness: .strict)
            switch consume file {
            case .recorded: return nil
            case .foreign(let reader): return reader.format
            }
        } catch { return nil }
    }

    /// The reason why the file isn't read, and the command that converts it.
    var description: String {
        "\(path) is a file of another program (\(format.rawValue)); convert it first: indoorloc convert "
            + "\(ShellWord.quoted(path)) \(ShellWord.quoted(recording))"
    }

    /// The name of a recording in the working folder, which differs from that of the file.
    private var recording: String {
        let name = URL(filePath: path).lastPathComponent
        let stem = String(name.prefix { $0 != "." })
        return "\(stem.isEmpty ? "recording" : stem)\(name.contains(".jsonl") ? "-converted" : "").jsonl"
    }
}
