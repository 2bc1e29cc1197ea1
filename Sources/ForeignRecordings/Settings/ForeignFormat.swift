/// The format of a recording that another program wrote.
public enum ForeignFormat: String, Hashable, Sendable, CaseIterable {
    /// A table with a header, separated by commas, semicolons or tabs.
    case csv
    /// Packets of Bluetooth as sniffers write them: pcap or pcapng.
    case pcap
    /// Devices as Kismet writes them in JSON.
    case kismet
    /// Messages of gateways as `mosquitto_sub -v` prints them.
    case mqtt
    /// A log of the Android app GetSensorData, the format of the IPIN competition.
    case getSensorData = "getsensordata"
    /// A trace of the Indoor Location competition of Microsoft Research and Kaggle.
    case indoorLocation = "indoor-location"
    /// JSON objects with the fields of the Python library Bleak.
    case bleak

    /// The name of an element of the format in messages.
    var element: String {
        switch self {
        case .pcap: "packet"
        case .kismet, .bleak: "object"
        case .csv, .mqtt, .getSensorData, .indoorLocation: "line"
        }
    }
}
