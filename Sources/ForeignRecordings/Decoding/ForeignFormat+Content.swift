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
