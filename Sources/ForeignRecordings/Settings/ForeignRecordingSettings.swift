import IndoorVocabulary
import ScanRecording

/// The values that the files of other programs don't state, and the part of the files that is read.
public struct ForeignRecordingSettings: Sendable {
    /// The header of each column of a CSV file, beyond the names that the reader knows.
    public var columns: [CSVColumn: String] = [:]
    /// The columns of a CSV file that each have the signal strength of one beacon; nil finds them if the file has no
    /// other column with a signal strength.
    public var beaconColumns: [String]?
    /// The numbers that mean "not heard" in such a column. No text and a number outside −127 to −1 always mean it.
    public var notHeard: Set<Double> = [-100]
    /// The beacon of a CSV file without a column for it: an identity, an address, or a name in `beacons`.
    public var beacon: String?
    /// The beacons by their names in a CSV file.
    public var beacons: [String: ForeignBeacon] = [:]
    /// The form of the lines of a CSV file without a header; nil for a file with one.
    public var line: LinePattern?
    /// The form of the times in a CSV file; nil detects ISO 8601, numbers and the form of `ctime`.
    public var timeFormat: ForeignTimeFormat?
    /// Returns the offset from UTC in seconds of a local time in seconds, for times in text without a zone; nil for
    /// UTC.
    public var zoneOffset: (@Sendable (_ localSeconds: Int64) -> Int64)?
    /// Whether another program is still writing the file, so that no entry may wait for a later one.
    public var isLive = false
    /// Ground truth from another file.
    package var truth: [(time: ForeignTime, truth: Truth)] = []
    /// The path of the other file; nil without one.
    package var truthFile: String?
    /// The map of a ground truth that names no map; nil leaves such a ground truth out.
    public var map: MapID?
    /// The height in metres of the plan of `map`, for formats whose y counts up from the plan's lower edge; nil leaves
    /// their ground truth out.
    public var mapHeight: Double?
    /// The receiver whose gateway messages are read; nil reads those of the only receiver.
    public var receiver: String?
    /// The tag whose gateway messages are read: its address, beacon or name.
    ///
    /// If it is set, each receiver becomes a beacon, and the recording is that of the tag. Nil reads the messages of
    /// one receiver.
    public var tag: String?
    /// The time between two gateway messages, or two lines of a CSV file, without a time; nil makes them an error.
    public var spacing: Duration?
    /// Returns the current time since 1970, which becomes the time of a gateway message without a time; nil uses no
    /// arrival time.
    public var arrival: (@Sendable () -> Duration)?
    /// Returns the map and the point of a coordinate on a floor; nil leaves geographic ground truth out.
    public var place: (@Sendable (_ coordinate: Coordinate, _ floor: Int) -> (map: MapID, point: MapPoint)?)?

    /// Creates settings that add nothing to the values in the file.
    public init() {}
}

/// A beacon by its identity, its address or both.
public struct ForeignBeacon: Hashable, Sendable {
    /// The identity; nil if the beacon is known by its address.
    public var identity: BeaconIdentity?
    /// The address; nil if it is unknown.
    public var address: DeviceAddress?

    /// Creates a beacon.
    public init(identity: BeaconIdentity? = nil, address: DeviceAddress? = nil) {
        self.identity = identity
        self.address = address
    }
}

/// The content of a column of a CSV file.
public enum CSVColumn: String, Hashable, Sendable, CaseIterable {
    /// The time: a number, or a text in ISO 8601. A number has the unit in its header, such as `time_ms`. Without one, a
    /// number from 10^11 on counts milliseconds, from 10^14 on microseconds, from 10^17 on nanoseconds, and below 10^11
    /// seconds.
    case time
    /// The received signal strength in dBm.
    case rssi
    /// The address of the transmitter.
    case address
    /// The beacon as UUID, major and minor with `/`, `-` or `_` between them.
    case identity
    /// The UUID of the beacon.
    case uuid
    /// The major number of the beacon.
    case major
    /// The minor number of the beacon.
    case minor
    /// The signal strength at 1 m that the beacon advertises, in dBm.
    case power
    /// The advertising data in hexadecimal digits.
    case data
    /// The true x coordinate in metres.
    case x
    /// The true y coordinate in metres.
    case y
    /// The number of the map of x and y.
    case map
    /// The name of the true room.
    case room

    /// The names by which the reader finds the column: in lower case, only letters and digits.
    var names: [String] {
        switch self {
        case .time:
            [
                "t", "time", "timestamp", "ts", "datetime", "date", "seconds", "unixtime", "epoch", "times",
                "timestamps", "firstseen", "timems", "timestampms", "timens", "timestampns", "timeus", "timestampus",
            ]
        case .rssi: ["rssi", "rss", "rssidbm", "rssdbm", "signal", "signalstrength", "signaldbm", "dbm"]
        case .address: ["mac", "address", "macaddress", "deviceaddress", "bdaddr", "bluetoothaddress", "addr"]
        case .identity: ["identity", "beacon", "beaconid", "ibeacon"]
        case .uuid: ["uuid", "proximityuuid", "beaconuuid"]
        case .major: ["major", "majorid"]
        case .minor: ["minor", "minorid"]
        case .power: ["power", "measuredpower", "txpower", "rssiat1m", "rssi1m", "refpower"]
        case .data: ["data", "payload", "advertisingdata", "advertisement", "advdata", "rawdata"]
        case .x: ["x", "xm", "truex", "posx"]
        case .y: ["y", "ym", "truey", "posy"]
        case .map: ["map", "mapid"]
        case .room: ["room", "roomname", "location"]
        }
    }
}

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
    /// Records of the app Sensor Logger in JSON.
    case sensorLogger = "sensor-logger"
    /// A log of Kismet, which is a database of SQLite.
    case kismetDatabase = "kismetdb"
    /// Packets of HCI that Android compresses into a bug report.
    case btsnooz

    /// The name of an element of the format in messages.
    var element: String {
        switch self {
        case .pcap: "packet"
        case .kismet, .bleak, .sensorLogger: "object"
        case .csv, .mqtt, .getSensorData, .indoorLocation, .btsnooz: "line"
        case .kismetDatabase: "row"
        }
    }
}
