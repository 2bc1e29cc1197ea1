import ScanRecording

/// A file of any format that this package reads, identified by its content. It is opened only once, so it can be a
/// pipe.
package enum ConvertibleFile: ~Copyable {
    case recorded(RecordedFile)
    case foreign(ForeignRecordingReader)

    /// Opens the file and waits for its first line.
    ///
    /// - Parameters:
    ///   - format: the format; nil detects it.
    ///   - adapter: the adapter of a capture whose advertisements are read; nil reads those of all adapters.
    /// - Throws: `.unreadable` if the file does not exist or cannot be read.
    package init(
        path: String, format: ForeignFormat? = nil, settings: ForeignRecordingSettings, adapter: UInt16? = nil,
        strictness: RecordingReader.Strictness
    ) throws(RecordingError) {
        do throws(ArchiveFailure) {
            let input = try ArchiveInput(path: path)
            var format = format
            if format == nil {
                let start = try input.start(until: ForeignFormatDetector.isEnough)
                format = ForeignFormatDetector.format(start, settings: settings)
            }
            if let format {
                self = .foreign(
                    ForeignRecordingReader(
                        path: path, format: format, settings: settings, strictness: strictness, input: input))
            } else {
                self = .recorded(
                    try RecordedFile(path: path, adapter: adapter, strictness: strictness, input: input))
            }
        } catch {
            throw RecordingError(file: path, problem: .unreadable(error.reason))
        }
    }
}
