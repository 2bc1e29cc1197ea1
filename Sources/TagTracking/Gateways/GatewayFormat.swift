/// The format of a gateway's messages.
public enum GatewayFormat: String, Hashable, Sendable, CaseIterable {
    /// ESPresense: `espresense/devices/ID/ROOM`.
    case espresense
    /// OpenMQTTGateway: `home/GATEWAY/BTtoMQTT/ADDRESS`.
    case openMQTTGateway
    /// Theengs Gateway: `home/TheengsGateway/BTtoMQTT/ADDRESS`.
    case theengs
    /// Ruuvi Gateway over MQTT: `ruuvi/GATEWAY/TAG`.
    case ruuvi
    /// Ruuvi Gateway over HTTP.
    case ruuviHTTP
    /// Minew gateways, format JSON-LONG.
    case minewLong
    /// Minew gateways, format JSON-RAW.
    case minewRaw
    /// Minew gateways, format BINARY-LONG.
    case minewBinary
    /// Scan events of Shelly devices.
    case shelly
    /// Tasmota on ESP32: `tele/TOPIC/BLE` and `tele/TOPIC/SENSOR`.
    case tasmota
    /// room-assistant: `room-assistant/entity/…`.
    case roomAssistant
    /// Streams of Kontakt.io.
    case kontakt
    /// raddec of reelyActive.
    case raddec
    /// `indoorloc scan --publish`.
    case indoorloc
}
