# Commands live in scripts that also run, and are tested, without Docker.
FROM python:3.11-slim
RUN useradd --create-home lexsi
WORKDIR /opt/lexsi
COPY . .
RUN scripts/build_image.sh
USER lexsi
ENV LEXSI_DS_HOME=/home/lexsi/data PORT=8501 ADDRESS=0.0.0.0
EXPOSE 8501
CMD ["scripts/start_app.sh"]
