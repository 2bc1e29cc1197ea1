import IndoorVocabulary

/// The error of a file whose content has no known format.
package struct UnknownFormatError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The path of the file.
    package var file: String
    /// The headers in words if the file is a table whose columns are unknown; nil for any other file.
    package var headers: String?

    /// The file, the known formats and the remedy, in one line.
    package var description: String {
        if let headers {
            return
                "\(file): the file is a table whose columns are unknown: \(headers). Name the columns of the time, the "
                + "signal strength and the beacon, such as --columns time=Date,rssi=Level,address=Device."
        }
        let names = ForeignFormat.allCases.map(\.rawValue).joined(separator: ", ")
        return "\(file): the format is not recognised. Known are recordings, btsnoop, \(names); try --from."
    }
}

extension UnknownFormatError: ClassifiedError {
    package var kind: LocalizationError.Kind { .notSupported }
}
