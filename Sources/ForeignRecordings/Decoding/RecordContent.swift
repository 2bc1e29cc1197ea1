/// A decoder of the lines or objects of one text format.
protocol RecordContent: Sendable {
    /// Decodes a line or an object.
    mutating func decode(_ record: [UInt8], into output: inout ForeignOutput) throws(ForeignProblem)

    /// Adds the entries that waited for more content, at the end of the file.
    mutating func finish(into output: inout ForeignOutput)
}

extension RecordContent {
    mutating func finish(into output: inout ForeignOutput) {}
}

/// The content of a format.
extension ForeignFormat {
    func content(_ settings: ForeignRecordingSettings) -> any RecordContent {
        switch self {
        case .csv: CSVContent(settings)
        case .mqtt: GatewayLogContent(settings)
        case .getSensorData: GetSensorDataContent(settings)
        case .indoorLocation: IndoorLocationContent(settings)
        case .kismet: KismetContent()
        case .bleak, .pcap: BleakContent()
        }
    }
}
